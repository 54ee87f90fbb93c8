import { parseForm } from '../../../src/service/http/form.ts'
import {
  type Reaction,
  type ScriptedServer,
  type Seen,
  startScriptedServer,
} from '../api/client/scripted-server.ts'
import type { Entry } from './directory-server.ts'

/** What the service does with a list of several entries. Whatever it is, a list of one is created and shown. */
export const WAYS = [
  'create-all',
  'show-other-order',
  'show-half',
  'show-object',
  'show-nothing',
  'show-emails-of-others',
  'create-first',
  'create-last',
  'create-last-and-show-nothing',
  'create-all-and-drop',
  'create-half-and-drop',
  'create-none-and-drop',
  'create-half-and-fail',
  'create-half-and-time-out',
  'create-all-and-show-page',
  'create-until-conflict',
  'create-others-and-conflict',
  'create-until-refused',
  'create-others-and-refuse',
  'create-some-and-refuse-length',
  'show-capitals',
  'lose-a-name',
  'lose-one',
  'refuse',
  'refuse-length',
  'limit-rate',
] as const
export const MIXING_WAYS = ['mix-emails', 'mix-emails-and-show-nothing'] as const
export type Way =
  | (typeof WAYS)[number]
  | (typeof MIXING_WAYS)[number]
  | 'mix-and-refuse'
  | 'create-all-and-hang'

export interface ListService extends ScriptedServer {
  readonly users: Entry[]
  /** `POST a b`, `PATCH a`, `GET a`, in the order of arrival. */
  readonly calls: readonly string[]
}

export interface ListServiceOptions {
  /** What happens to each list, one after the other; then everything is created. */
  readonly ways: readonly Way[]
  readonly existing?: readonly Entry[]
  /** Ids that it refuses for their own content. */
  readonly refused?: readonly string[]
  /** Answers to all PATCHes. */
  readonly correction?: Reaction
  /** Answers to the next GETs instead of the usual ones. */
  readonly reads?: readonly (Reaction | undefined)[]
}

const LONGEST = 3
const PAGE: Reaction = { status: 200, text: '<html>Log in</html>', headers: { 'content-type': 'text/html' } }

/** The users of directory 7, kept in memory. It would take an id twice, if it were not asked to look. */
export async function startListService(options: ListServiceOptions): Promise<ListService> {
  const users: Entry[] = [...(options.existing ?? [])]
  const calls: string[] = []
  const ways = [...options.ways]
  const reads = [...(options.reads ?? [])]
  const refused = new Set(options.refused)

  function react({ method, url, body }: Seen): Reaction {
    const id = decodeURIComponent(/\/users\/([^/?]+)$/.exec(url)?.[1] ?? '')
    if (method === 'POST') {
      const wanted = parseForm(body)['users'] as Entry[]
      calls.push(`POST ${wanted.map((entry) => entry.external_id).join(' ')}`)
      return create(wanted)
    }
    calls.push(`${method} ${id}`)
    if (method === 'GET') {
      const read = reads.shift()
      if (read !== undefined) return read
    }
    const found = users.find((entry) => entry.external_id === id)
    if (found === undefined) return { status: 404, json: { title: 'no such user' } }
    if (method === 'PATCH' && options.correction !== undefined) return options.correction
    if (method === 'PATCH') Object.assign(found, parseForm(body))
    return { status: 200, json: found }
  }

  const has = ({ external_id: id }: Entry) => users.some((entry) => entry.external_id === id)

  function create(wanted: readonly Entry[]): Reaction {
    const way = wanted.length > 1 ? (ways.shift() ?? 'create-all') : 'create-all'
    if (way === 'limit-rate') return { status: 429, headers: { 'retry-after': '1' } }
    if (way === 'refuse') return { status: 400, json: { title: 'no lists' } }
    if (way === 'refuse-length' && wanted.length > LONGEST)
      return { status: 413, json: { title: 'too long' } }
    if (way === 'create-some-and-refuse-length' && wanted.length > LONGEST) {
      add(wanted.filter((entry) => !has(entry) && !refused.has(entry.external_id)).slice(0, LONGEST))
      return { status: 400, json: { title: 'too long' } }
    }
    const refusal = wanted.findIndex(({ external_id: id }) => refused.has(id))
    if (refusal >= 0) {
      if (way === 'create-until-refused') add(wanted.slice(0, refusal).filter((entry) => !has(entry)))
      if (way === 'create-others-and-refuse')
        add(wanted.filter((entry) => !has(entry) && !refused.has(entry.external_id)))
      return { status: 422, json: { title: 'no' } }
    }
    const conflict = wanted.findIndex(has)
    if (conflict >= 0) {
      if (way === 'create-until-conflict') add(wanted.slice(0, conflict))
      if (way === 'create-others-and-conflict') add(wanted.filter((entry) => !has(entry)))
      return { status: 409, json: { title: 'taken' } }
    }
    return done(way, wanted)
  }

  function add(wanted: readonly Entry[]): Entry[] {
    const blank = { name: null, email: null, first_name: null, last_name: null }
    const created = wanted.map((entry, index) => ({ ...blank, id: users.length + index + 1, ...entry }))
    users.push(...created)
    return created
  }

  function done(way: Way, wanted: readonly Entry[]): Reaction {
    const half = wanted.slice(0, Math.ceil(wanted.length / 2))
    switch (way) {
      case 'show-other-order':
        return shows(add(wanted).toReversed())
      case 'show-half':
        return shows(add(wanted).slice(0, half.length))
      case 'show-object':
        return shows({ users: add(wanted) })
      case 'show-nothing':
        return add(wanted) && SHOWS_NOTHING
      case 'show-emails-of-others':
        return shows(mixed(add(wanted)))
      case 'lose-a-name':
        return shows(add(wanted.map((entry, index) => (index === 2 ? { ...entry, name: null } : entry))))
      case 'lose-one':
        return shows(add(wanted.filter((_, index) => index !== 2)))
      case 'mix-and-refuse':
        return add(mixed(wanted)) && { status: 400, json: { title: 'no' } }
      case 'show-capitals':
        return shows(
          add(wanted).map(({ name, ...entry }) => ({ ...entry, name: String(name).toUpperCase() })),
        )
      case 'mix-emails':
        return shows(add(mixed(wanted)))
      case 'mix-emails-and-show-nothing':
        return add(mixed(wanted)) && SHOWS_NOTHING
      case 'create-first':
        return shows(add(wanted.slice(0, 1)))
      case 'create-last':
        return shows(add(wanted.slice(-1)))
      case 'create-last-and-show-nothing':
        return add(wanted.slice(-1)) && SHOWS_NOTHING
      case 'create-all-and-drop':
        return add(wanted) && 'drop'
      case 'create-half-and-drop':
        return add(half) && 'drop'
      case 'create-none-and-drop':
        return 'drop'
      case 'create-half-and-fail':
        return add(half) && { status: 500 }
      case 'create-half-and-time-out':
        return add(half) && { status: 504 }
      case 'create-all-and-hang':
        return add(wanted) && 'silence'
      case 'create-all-and-show-page':
        return add(wanted) && PAGE
      case 'create-all':
      case 'create-until-conflict':
      case 'create-others-and-conflict':
      case 'create-until-refused':
      case 'create-others-and-refuse':
      case 'create-some-and-refuse-length':
      case 'limit-rate':
      case 'refuse':
      case 'refuse-length':
        return shows(add(wanted))
    }
  }

  const server = await startScriptedServer(react)
  return { ...server, users, calls }
}

const SHOWS_NOTHING: Reaction = { status: 201 }

function shows(json: unknown): Reaction {
  return { status: 201, json }
}

/** Each with the e-mail of the next one. */
function mixed(entries: readonly Entry[]): Entry[] {
  return entries.map((entry, index) => {
    const email = entries[(index + 1) % entries.length]?.['email']
    return { ...entry, ...(email !== undefined && { email }) }
  })
}
