import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  /** Path and query as they came. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What the server does with one request: answers, or one of the ways not to. */
export type Reaction =
  | {
      readonly status: number
      readonly json?: unknown
      readonly text?: string
      readonly headers?: Record<string, string>
    }
  /** Cuts the connection; the request has been read. */
  | 'drop'
  /** Sends the status and half of a body, then cuts the connection. */
  | 'drop-in-body'
  /** The same with a web page. */
  | 'drop-in-page'
  | 'silence'

export interface ScriptedServer extends AsyncDisposable {
  readonly baseUrl: string
  readonly seen: Seen[]
  /** Connections that were opened so far. */
  readonly connections: () => number
  readonly waitForRequests: (count: number) => Promise<void>
}

/** A server on a free port that does what `react` says; `index` counts the requests from 0. */
export async function startScriptedServer(
  react: (request: Seen, index: number) => Reaction | Promise<Reaction>,
): Promise<ScriptedServer> {
  const seen: Seen[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  let connections = 0
  const server: Server = createServer((request, response) => {
    void handle(request, response)
  })
  server.on('connection', () => {
    connections += 1
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const what: Seen = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') }
    const index = seen.push(what) - 1
    for (const each of waiting) if (seen.length >= each.count) each.resolve()
    perform(await react(what, index), response)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    connections: () => connections,
    waitForRequests: (count) =>
      new Promise((resolve) => (seen.length >= count ? resolve() : waiting.push({ count, resolve }))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function perform(reaction: Reaction, response: ServerResponse): void {
  if (reaction === 'silence') return
  if (reaction === 'drop') {
    response.destroy()
    return
  }
  if (reaction === 'drop-in-body' || reaction === 'drop-in-page') {
    const type = reaction === 'drop-in-page' ? 'text/html' : 'application/json'
    response.writeHead(200, { 'content-type': type, 'content-length': '1000' })
    response.write('{"half":', () => response.destroy())
    return
  }
  const { status, json, text, headers } = reaction
  const body = json === undefined ? (text ?? '') : JSON.stringify(json)
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  response.writeHead(status, { ...type, ...headers }).end(body)
}

/** Reacts in the order of the list; what comes after its end is a mistake of the test and shows as 418. */
export function inOrder(...reactions: Reaction[]): (request: Seen, index: number) => Reaction {
  return (_, index) => reactions[index] ?? { status: 418, json: { detail: 'not in the script' } }
}
