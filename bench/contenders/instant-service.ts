import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { serveContender } from '../contender.ts'
import type { Entries } from '../people.ts'

export interface InstantServiceTask extends Entries {
  readonly port: number
  /** Milliseconds from a write to its answer; 0 answers at once. */
  readonly writeMs: number
}

const PER_PAGE = 100

/**
 * A stand-in for the service that does almost no work: one directory in memory, prepared pages, no checks. It shows the
 * client's own cost, which the real service's work would hide. Each repetition resets the directory.
 */
serveContender(async ({ port, writeMs, users, groups }: InstantServiceTask) => {
  const pages = { users: pagesOf(users), groups: pagesOf(groups) }
  let created = new Set<string>()
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return answerRead(request, response, pages)
    createEntry(request, response, created, writeMs)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    async run() {
      created = new Set()
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
})

interface Pages {
  readonly total: number
  readonly bodies: readonly string[]
}

function pagesOf(entries: readonly object[]): Pages {
  const items = entries.map((entry, index) => ({
    id: index + 1,
    first_name: null,
    last_name: null,
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
  pages: { readonly users: Pages; readonly groups: Pages },
): void {
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const list = path.endsWith('/users') ? pages.users : path.endsWith('/groups') ? pages.groups : undefined
  const headers = { 'content-type': 'application/json', 'x-token-expires-in': '2592000' }
  if (list === undefined) {
    response.writeHead(200, headers)
    response.end('{"id":7,"name":"Corporate","doppler":false,"target_type":"ldap"}')
    return
  }
  const page = Number(/(?:^|&)page=(\d+)/.exec(query)?.[1] ?? 1)
  response.writeHead(200, { ...headers, total: list.total, 'per-page': PER_PAGE })
  response.end(list.bodies[page - 1] ?? '[]')
}

/** Answers 409 to a second POST of an id, because a repeated request would falsify the figure. */
function createEntry(
  request: IncomingMessage,
  response: ServerResponse,
  created: Set<string>,
  writeMs: number,
): void {
  let form = ''
  request.setEncoding('utf8').on('data', (chunk: string) => {
    form += chunk
  })
  request.on('end', () => {
    const id = new URLSearchParams(form).get('users[][external_id]') ?? ''
    const taken = id === '' || created.has(id)
    created.add(id)
    const answer = () => {
      response.writeHead(taken ? 409 : 201, { 'content-type': 'application/json' })
      response.end('[]')
    }
    if (writeMs === 0) answer()
    else setTimeout(answer, writeMs)
  })
}
