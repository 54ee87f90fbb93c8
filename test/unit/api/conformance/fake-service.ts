import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestedService } from '../../../../src/api/conformance/conformance.ts'

type Answerer = (request: IncomingMessage, response: ServerResponse) => void

/** A service that answers what it is told to, and what it was asked. */
export async function startService(answerer: Answerer) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${(request.url ?? '').replace(/.*\/directories/, '')}`)
    answerer(request, response)
    request.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    asked,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export function serviceAt(baseUrl: string, more: Partial<TestedService> = {}): TestedService {
  return {
    baseUrl,
    organizationId: 1,
    directoryId: 7,
    token: 'secret-token',
    deviceId: 'd',
    writes: false,
    ...more,
  }
}

export const never = new AbortController().signal

export function json(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-token-expires-in': '60', ...headers })
  response.end(JSON.stringify(body))
}

export const DIRECTORY = { id: 7, name: 'Corporate', doppler: false, target_type: 'ldap' }
