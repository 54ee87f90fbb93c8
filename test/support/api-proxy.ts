import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A request on its way to the service. */
export interface Passing {
  readonly method: string
  readonly url: string
  readonly body: string
}

/** An answer in the service's stead, or another body for it to get. */
export type Interference = { readonly status: number; readonly answer?: object } | { readonly body: string }

export interface ApiProxy extends AsyncDisposable {
  readonly baseUrl: string
  /** Asked about each request; without an interference the request passes as it is. */
  interfere: (passing: Passing) => Interference | undefined | Promise<Interference | undefined>
}

/** A man in the middle, between the client and the access-management service. */
export async function startApiProxy(target: string): Promise<ApiProxy> {
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: ApiProxy = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    interfere: () => undefined,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method = '', url = '' } = request
    const interference = await proxy.interfere({ method, url, body })
    if (interference !== undefined && 'status' in interference) {
      response.writeHead(interference.status, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify(interference.answer ?? {}))
      return
    }
    const headers = new Headers()
    for (const name of ['authorization', 'x-device-id', 'content-type']) {
      const value = request.headers[name]
      if (typeof value === 'string') headers.set(name, value)
    }
    const sent = interference?.body ?? body
    const answer = await fetch(target + url, { method, headers, ...(sent !== '' && { body: sent }) })
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  }

  return proxy
}
