import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { serveContender } from '../contender.ts'
import type { Entries } from '../people.ts'

export interface InstantServiceTask extends Entries {
  readonly port: number
  /** Milliseconds from a write to its answer; 0 answers at once. */
  readonly writeMs: number
  /** Requests that the service takes in a second; it answers the others with 429. Without it, it takes all. */
  readonly perSecond?: number | undefined
}

/** What `GET /bench/requests` answers: the requests since the last repetition began. */
export interface RequestCounts {
  readonly reads: number
  readonly writes: number
  /** Those of both that were answered with 429. */
  readonly limited: number
}

const PER_PAGE = 100

/**
 * A stand-in for the service that does almost no work: one directory in memory, prepared pages, no checks. It shows the
 * client's own cost, which the real service's work would hide. Each repetition resets the directory.
 */
serveContender(async ({ port, writeMs, perSecond, users, groups }: InstantServiceTask) => {
  const pages = { users: pagesOf(users), groups: pagesOf(groups) }
  let created = new Map<string, Created>()
  let counts = { reads: 0, writes: 0, limited: 0 }
  const isTooMuch = limitOf(perSecond)
  const server = createServer((request, response) => {
    if (request.url === '/bench/requests') return void response.end(JSON.stringify(counts))
    counts[request.method === 'POST' ? 'writes' : 'reads'] += 1
    if (isTooMuch()) {
      counts.limited += 1
      request.resume()
      return void response.writeHead(429, { 'retry-after': '1' }).end()
    }
    if (request.method !== 'POST') return answerRead(request, response, { pages, created })
    createEntries(request, response, created, writeMs)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    async run() {
      created = new Map()
      counts = { reads: 0, writes: 0, limited: 0 }
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
})

/** A token bucket that holds the requests of one second. */
function limitOf(perSecond: number | undefined): () => boolean {
  if (perSecond === undefined) return () => false
  let tokens = perSecond
  let filledAt = performance.now()
  return () => {
    const now = performance.now()
    tokens = Math.min(perSecond, tokens + ((now - filledAt) / 1000) * perSecond)
    filledAt = now
    if (tokens < 1) return true
    tokens -= 1
    return false
  }
}

const DIRECTORY = { id: 7, name: 'Corporate', doppler: false, target_type: 'ldap' }

interface Lists {
  readonly users: Pages
  readonly groups: Pages
}

interface Pages {
  readonly total: number
  readonly bodies: readonly string[]
}

function pagesOf(entries: readonly object[]): Pages {
  const items = entries.map((entry, index) => ({
    id: index + 1,
    ...NO_NAME,
    ...entry,
  }))
  const bodies: string[] = []
  for (let start = 0; start < items.length; start += PER_PAGE) {
    bodies.push(JSON.stringify(items.slice(start, start + PER_PAGE)))
  }
  return { total: entries.length, bodies }
}

function answerRead(
  request: IncomingMessage,
  response: ServerResponse,
  { pages, created }: { readonly pages: Lists; readonly created: ReadonlyMap<string, Created> },
): void {
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const list = path.endsWith('/users') ? pages.users : path.endsWith('/groups') ? pages.groups : undefined
  const headers = { 'content-type': 'application/json', 'x-token-expires-in': '2592000' }
  if (list === undefined) {
    const id = /\/users\/([^/]+)$/.exec(path)?.[1]
    const user = id === undefined ? DIRECTORY : created.get(decodeURIComponent(id))
    response.writeHead(user === undefined ? 404 : 200, headers)
    response.end(JSON.stringify(user ?? {}))
    return
  }
  const page = Number(/(?:^|&)page=(\d+)/.exec(query)?.[1] ?? 1)
  response.writeHead(200, { ...headers, total: list.total, 'per-page': PER_PAGE })
  response.end(list.bodies[page - 1] ?? '[]')
}

/**
 * Creates all entries of a list or none, and shows what it created of a list of several. Answers 409 to a second POST of
 * an id, because a repeated request would falsify the figure.
 */
function createEntries(
  request: IncomingMessage,
  response: ServerResponse,
  created: Map<string, Created>,
  writeMs: number,
): void {
  let form = ''
  request.setEncoding('utf8').on('data', (chunk: string) => {
    form += chunk
  })
  request.on('end', () => {
    const entries = entriesIn(form)
    const taken = entries.length === 0 || entries.some(({ external_id: id }) => created.has(id))
    if (!taken) for (const entry of entries) created.set(entry.external_id, entry)
    const shown = entries.length > 1 && !taken ? entries : []
    const answer = () => {
      response.writeHead(taken ? 409 : 201, { 'content-type': 'application/json' })
      response.end(JSON.stringify(shown))
    }
    if (writeMs === 0) answer()
    else setTimeout(answer, writeMs)
  })
}

const NO_NAME = { first_name: null, last_name: null }

interface Created {
  readonly id: number
  readonly external_id: string
  name: string | null
  email: string | null
}

/** The users of a form; each begins with its id. */
function entriesIn(form: string): readonly Created[] {
  const entries: Created[] = []
  for (const [key, value] of new URLSearchParams(form)) {
    const entry = entries.at(-1)
    if (key === 'users[][external_id]')
      entries.push({ id: 1, external_id: value, ...NO_NAME, name: null, email: null })
    else if (entry !== undefined && key === 'users[][name]') entry.name = value
    else if (entry !== undefined && key === 'users[][email]') entry.email = value
  }
  return entries
}
