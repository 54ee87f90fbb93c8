import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A request from the client to the service. */
export interface ProxiedRequest {
  readonly method: string
  readonly url: string
  readonly body: string
  /** Whether the client has closed its connection. */
  isGone(): boolean
}

/** An answer that replaces the service's, or a body or path that replaces the client's. */
export type Interception =
  | { readonly status: number; readonly answer?: object; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly page: string }
  | { readonly body?: string; readonly url?: string; readonly afterwards?: Afterwards }
  | 'cut'

/** What the client gets when the service has done the request: a part of the answer, or something else. */
export type Afterwards =
  | 'cut'
  | 'half'
  | { readonly status: number; readonly page: string }
  | { readonly status: number; readonly answer: object }

/** An answer of the service that a test may change. */
export interface Alterable {
  status: number
  readonly headers: Map<string, string>
  body: string
}

export interface ApiProxy extends AsyncDisposable {
  readonly baseUrl: string
  /** Called for each request; on `undefined` the proxy forwards the request unchanged. */
  intercept: (request: ProxiedRequest) => Interception | undefined | Promise<Interception | undefined>
  /** Called with the status of each answer of the service, and the body that it got, before the client gets it. */
  answered: (request: ProxiedRequest, status: number, body: string) => void
  /** Changes an answer of the service before the client gets it. */
  alter: ((request: ProxiedRequest, answer: Alterable) => void) | undefined
}

/** An HTTP proxy between the client and the access-management service. */
export async function startApiProxy(serviceUrl: string): Promise<ApiProxy> {
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: ApiProxy = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intercept: () => undefined,
    answered: () => undefined,
    alter: undefined,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method = '', url = '' } = request
    const proxied = { method, url, body, isGone: () => response.destroyed }
    const interception = await proxy.intercept(proxied)
    if (interception === 'cut') return void response.destroy()
    if (interception !== undefined && 'status' in interception) return answer(response, interception)
    const headers = new Headers()
    for (const name of ['authorization', 'x-device-id', 'content-type']) {
      const value = request.headers[name]
      if (typeof value === 'string') headers.set(name, value)
    }
    const sent = interception?.body ?? body
    const target = serviceUrl + (interception?.url ?? url)
    const reply = await fetch(target, { method, headers, ...(sent !== '' && { body: sent }) })
    const content = Buffer.from(await reply.arrayBuffer())
    proxy.answered(proxied, reply.status, sent)
    const afterwards = interception?.afterwards
    if (afterwards === 'cut') return void response.destroy()
    if (typeof afterwards === 'object') return answer(response, afterwards)
    if (proxy.alter !== undefined) {
      const altered = { status: reply.status, headers: new Map(reply.headers), body: content.toString() }
      for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive'])
        altered.headers.delete(name)
      proxy.alter(proxied, altered)
      response.writeHead(altered.status, Object.fromEntries(altered.headers))
      return void response.end(altered.body)
    }
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    if (afterwards !== 'half') return void response.end(content)
    response.write(content.subarray(0, content.length / 2), () => response.destroy())
  }

  return proxy
}

function answer(response: ServerResponse, replaced: Extract<Interception, { status: number }>): void {
  const isPage = 'page' in replaced
  const type = isPage ? 'text/html' : replaced.status < 400 ? 'application/json' : 'application/problem+json'
  const headers = 'headers' in replaced ? replaced.headers : undefined
  response.writeHead(replaced.status, { 'content-type': type, ...headers })
  response.end(isPage ? replaced.page : JSON.stringify(replaced.answer ?? {}))
}
