import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A request from the client to the service. */
export interface ProxiedRequest {
  readonly method: string
  readonly url: string
  readonly body: string
}

/** An answer that replaces the service's, or a body that replaces the client's. */
export type Interception =
  | { readonly status: number; readonly answer?: object; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly page: string }
  | { readonly body: string }

export interface ApiProxy extends AsyncDisposable {
  readonly baseUrl: string
  /** Called for each request; on `undefined` the proxy forwards the request unchanged. */
  intercept: (request: ProxiedRequest) => Interception | undefined | Promise<Interception | undefined>
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
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method = '', url = '' } = request
    const interception = await proxy.intercept({ method, url, body })
    if (interception !== undefined && 'status' in interception) {
      const isPage = 'page' in interception
      const type = isPage ? 'text/html' : 'application/problem+json'
      const headers = 'headers' in interception ? interception.headers : undefined
      response.writeHead(interception.status, { 'content-type': type, ...headers })
      response.end(isPage ? interception.page : JSON.stringify(interception.answer ?? {}))
      return
    }
    const headers = new Headers()
    for (const name of ['authorization', 'x-device-id', 'content-type']) {
      const value = request.headers[name]
      if (typeof value === 'string') headers.set(name, value)
    }
    const sent = interception?.body ?? body
    const answer = await fetch(serviceUrl + url, { method, headers, ...(sent !== '' && { body: sent }) })
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  }

  return proxy
}
