import { setTimeout as delay } from 'node:timers/promises'
import { DIRECTORY } from '../api/client/fixtures.ts'
import { parseForm } from '../../../src/service/http/form.ts'
import {
  type Reaction,
  type ScriptedServer,
  type Seen,
  startScriptedServer,
} from '../api/client/scripted-server.ts'

export type Entry = Record<string, unknown> & { external_id: string }

export interface DirectoryServer extends ScriptedServer {
  readonly users: Entry[]
  readonly groups: Entry[]
  /** The directory itself. */
  exists: boolean
  /** What the header `total` of a page says, if there is one; the number of entries by default. */
  total: (list: string, entries: readonly Entry[]) => number | undefined
  /** Methods and last path segments of what came, such as `PATCH users/u1`. */
  readonly calls: () => string[]
  /** What happens to the next requests instead of the usual answer; `work` does what was asked for first. */
  readonly trouble: Trouble[]
}

interface Trouble {
  readonly method?: string
  readonly work?: boolean
  /** How long the request takes, in milliseconds; it is done at the end of that, also when nobody waits any more. */
  readonly takes?: number
  /** Left out: what the usual answer is. */
  readonly reaction?: Reaction
  /** Called in front of the answer, such as somebody else's change. */
  readonly meanwhile?: () => void
}

const PREFIX = /^\/api\/v2\/organizations\/1\/admin\/directories\/7/

/** A directory kept in memory, which holds no id twice unless it was put in so. */
export async function startDirectoryServer(): Promise<DirectoryServer> {
  const users: Entry[] = []
  const groups: Entry[] = []
  const trouble: Trouble[] = []

  async function react(request: Seen): Promise<Reaction> {
    const at = trouble.findIndex(({ method }) => method === undefined || method === request.method)
    const next = at < 0 ? undefined : trouble.splice(at, 1)[0]
    next?.meanwhile?.()
    if (next?.takes !== undefined) await delay(next.takes)
    const usual = next === undefined || next.work === true ? answer(request) : undefined
    return next?.reaction ?? usual ?? { status: 500 }
  }

  function answer({ method, url, body }: Seen): Reaction {
    const { pathname, searchParams } = new URL(url, 'http://x')
    const [, list, id] = pathname.replace(PREFIX, '').split('/').map(decodeURIComponent)
    if (!server.exists) return missing
    if (list === undefined) return { status: 200, json: DIRECTORY }
    const entries = list === 'users' ? users : groups
    if (method === 'POST') return create(entries, parseForm(body)[list] as Entry[], list)
    if (id === undefined) return page(entries, searchParams, server.total(list, entries))
    const index = entries.findIndex((entry) => entry.external_id === id)
    const found = entries[index]
    if (found === undefined) return missing
    if (method === 'PATCH') Object.assign(found, withMembers(parseForm(body)))
    if (method === 'DELETE') entries.splice(index, 1)
    return method === 'DELETE' ? { status: 204 } : { status: 200, json: found }
  }

  const scripted = await startScriptedServer(react)
  const server: DirectoryServer = {
    ...scripted,
    users,
    groups,
    trouble,
    exists: true,
    total: (_, all) => all.length,
    calls: () =>
      scripted.seen.map(({ method, url }) => `${method} ${url.replace(PREFIX, '').slice(1) || 'directory'}`),
  }
  return server
}

const missing: Reaction = { status: 404, json: { title: 'Not Found', detail: 'no such thing' } }

function create(entries: Entry[], wanted: Entry[], list: string): Reaction {
  if (wanted.some(({ external_id: id }) => entries.some((entry) => entry.external_id === id))) {
    return { status: 409, json: { detail: 'external_id is taken' } }
  }
  const blank = list === 'users' ? { name: null, email: null } : { external_member_ids: [] }
  const created = wanted.map((entry, index) => ({ id: entries.length + index + 1, ...blank, ...entry }))
  entries.push(...created)
  return { status: 201, json: created }
}

function withMembers(fields: Record<string, unknown>): Record<string, unknown> {
  const members = fields['external_member_ids']
  return Array.isArray(members)
    ? { ...fields, external_member_ids: members.filter((id) => id !== '') }
    : fields
}

function page(entries: Entry[], query: URLSearchParams, total: number | undefined): Reaction {
  const number = Number(query.get('page') ?? 1)
  const size = Number(query.get('per_page') ?? 20)
  const headers = { ...(total !== undefined && { total: String(total) }), 'per-page': String(size) }
  return { status: 200, json: entries.slice((number - 1) * size, number * size), headers }
}
