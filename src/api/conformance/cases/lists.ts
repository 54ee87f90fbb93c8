import type { HttpAnswer } from '../answer.ts'
import { entryForm, lacksScope } from '../fixtures.ts'
import type { Probing } from '../probing.ts'
import { NO_DIFFERENCES, type Verdict } from '../verdict.ts'
import type { Case, Row } from './case.ts'

const KINDS = { createUsers: 'user', createGroups: 'group' } as const

/** The description does not say what several entries in one request do, so this case finds notes and no differences. */
export function listCases(row: Row): readonly Case[] {
  const { operation } = row
  if (operation !== 'createUsers' && operation !== 'createGroups') return []
  return [
    {
      name: 'three entries in one request',
      needsScope: true,
      try: (probing) => createThree(probing, operation),
    },
  ]
}

async function createThree(probing: Probing, operation: keyof typeof KINDS): Promise<Verdict> {
  const kind = KINDS[operation]
  const read = kind === 'user' ? 'getUser' : 'getGroup'
  const entries = Array.from({ length: 3 }, (_, index) => {
    const id = probing.newId()
    return { id, ...namedForm(kind, id, `Check of the API, ${kind} ${index + 1}`) }
  })
  const answer = await probing.send(operation, {
    form: entries.flatMap(({ form }) => form),
    creates: entries.map(({ id }) => id),
  })
  if (answer.status === 401 || answer.status === 403) throw lacksScope(operation, answer.status)
  if (answer.status < 200 || answer.status > 299) {
    return { ...noteOf(kind, `${answer.status}`), serverError: answer.status >= 500 }
  }
  const wrong: string[] = []
  for (const { id, name } of entries) {
    const shown = await probing.sendUntilAnswered(read, () => ({ params: { external_id: id } }))
    const found = nameIn(shown)
    if (found !== name)
      wrong.push(found === undefined ? `${shown.status} for one of them` : `the name "${found}"`)
  }
  if (wrong.length === 0) return NO_DIFFERENCES
  return noteOf(kind, `${answer.status}, and afterwards ${wrong.join(' and ')}`)
}

function namedForm(kind: 'user' | 'group', id: string, name: string) {
  const { form = [] } = entryForm(kind, id)
  const named = form.map(([key, value]): [string, string] => [key, key.endsWith('[name]') ? name : value])
  return { name, form: named }
}

function noteOf(kind: string, actual: string): Verdict {
  return { differences: [], notes: [{ expected: `three ${kind}s with their own names`, actual }] }
}

function nameIn({ status, json }: HttpAnswer): string | undefined {
  if (status !== 200 || typeof json !== 'object' || json === null || !('name' in json)) return undefined
  return String(json.name)
}
