import type { HttpAnswer } from '../answer.ts'
import type { Mismatch } from '../checks.ts'
import { entryForm } from '../fixtures.ts'
import type { Session } from '../session.ts'
import type { Case, Row } from './case.ts'

const KINDS = { createUsers: 'user', createGroups: 'group' } as const

/** The description does not say what several entries in one request do. */
export function listCases({ operation }: Row): readonly Case[] {
  if (operation !== 'createUsers' && operation !== 'createGroups') return []
  return [
    {
      name: 'three entries in one request',
      needsScope: true,
      isStated: false,
      try: (session) => createThree(session, operation),
    },
  ]
}

async function createThree(session: Session, operation: keyof typeof KINDS): Promise<readonly Mismatch[]> {
  const kind = KINDS[operation]
  const mismatch = (actual: string) => [{ expected: `three ${kind}s with their own names`, actual }]
  const entries = [1, 2, 3].map((number) => {
    const id = session.newId()
    const name = `Check of the API, ${kind} ${number}`
    return { id, name, request: entryForm(kind, id, name) }
  })
  const answer = await session.sendAllowed(operation, {
    form: entries.flatMap(({ request }) => request.form ?? []),
    creates: entries.map(({ id }) => id),
  })
  if (answer.status < 200 || answer.status > 299) return mismatch(`${answer.status}`)
  const wrong: string[] = []
  for (const { id, name } of entries) {
    const shown = await session.send(kind === 'user' ? 'getUser' : 'getGroup', {
      params: { external_id: id },
    })
    const found = nameIn(shown)
    if (found === undefined) wrong.push(`${shown.status} for one of them`)
    else if (found !== name) wrong.push(`the name "${found}"`)
  }
  return wrong.length === 0 ? [] : mismatch(`${answer.status}, and afterwards ${wrong.join(' and ')}`)
}

function nameIn({ status, json }: HttpAnswer): string | undefined {
  if (status !== 200 || typeof json !== 'object' || json === null || !('name' in json)) return undefined
  return String(json.name)
}
