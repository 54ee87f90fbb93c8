import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { serveContender } from '../contender.ts'
import type { Entries } from '../people.ts'

export interface InstantServiceTask extends Entries {
  readonly port: number
}

const PER_PAGE = 100

/**
 * A service that costs next to nothing: one directory in memory, pages ready to send, no check of anything. What a
 * client needs beyond the wire shows here; the real service hides it behind its own work. A repetition resets it.
 */
serveContender(async ({ port, users, groups }: InstantServiceTask) => {
  const pages = { users: pagesOf(users), groups: pagesOf(groups) }
  let created = new Set<string>()
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return answerRead(request, response, pages)
    takeEntry(request, response, created)
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
  const shown = entries.map((entry, index) => ({
    id: index + 1,
    first_name: null,
    last_name: null,
    ...entry,
  }))
  const bodies: string[] = []
  for (let start = 0; start < shown.length; start += PER_PAGE) {
    bodies.push(JSON.stringify(shown.slice(start, start + PER_PAGE)))
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

/** Every id once: a second POST of one would make a figure that means nothing. */
function takeEntry(request: IncomingMessage, response: ServerResponse, created: Set<string>): void {
  let form = ''
  request.setEncoding('utf8').on('data', (chunk: string) => {
    form += chunk
  })
  request.on('end', () => {
    const id = new URLSearchParams(form).get('users[][external_id]') ?? ''
    const taken = id === '' || created.has(id)
    created.add(id)
    response.writeHead(taken ? 409 : 201, { 'content-type': 'application/json' })
    response.end('[]')
  })
}
