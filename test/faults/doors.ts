import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ApiProxy, type Interception, startApiProxy } from '../support/api-proxy.ts'
import { writesOf } from './write-history.ts'
import { eventually } from '../support/eventually.ts'

/** What all doors to one service have seen together. */
export interface Traffic {
  /** `create u1`, in the order of arrival, also what was never answered. */
  readonly writes: string[]
  /** Writes that arrived while another write of the same entry was under way. */
  readonly doubled: string[]
  readonly underWay: Set<string>
}

export function newTraffic(): Traffic {
  return { writes: [], doubled: [], underWay: new Set() }
}

/** The API as one process sees it: it records what the process sends, and can make it wait. */
export class Door implements AsyncDisposable {
  /** An HTTP proxy to it: all processes name one address of the API, as one directory has one. */
  readonly proxy: string
  /** `create u1`, in the order of arrival. */
  readonly writes: string[] = []
  /** When each request arrived, reads included, in milliseconds since 1970. */
  readonly arrivals: number[] = []
  /** How many writes the service has answered; each entry of a list is one. */
  answered = 0
  /** What the next write gets instead of reaching the service. */
  refuseNext: Interception | undefined
  readonly #stack = new AsyncDisposableStack()
  #gate: PromiseWithResolvers<void> | undefined
  #readGate: PromiseWithResolvers<void> | undefined

  private constructor(proxy: ApiProxy, tunnel: TcpTunnel, traffic: Traffic) {
    this.#stack.use(proxy)
    this.#stack.use(tunnel)
    this.proxy = tunnel.url
    proxy.intercept = async (request) => {
      this.arrivals.push(Date.now())
      const writes = writesOf(request)
      if (writes.length === 0) {
        await this.#readGate?.promise
        return undefined
      }
      const refusal = this.refuseNext
      this.refuseNext = undefined
      if (refusal !== undefined) return refusal
      for (const { op, id } of writes) {
        if (traffic.underWay.has(id)) traffic.doubled.push(`${op} ${id}`)
        traffic.underWay.add(id)
        traffic.writes.push(`${op} ${id}`)
        this.writes.push(`${op} ${id}`)
      }
      await this.#gate?.promise
      return undefined
    }
    proxy.answered = (request) => {
      for (const { id } of writesOf(request)) {
        traffic.underWay.delete(id)
        this.answered += 1
      }
    }
  }

  static async open(serviceUrl: string, traffic: Traffic): Promise<Door> {
    const proxy = await startApiProxy(serviceUrl)
    return new Door(proxy, await startTunnel(Number(new URL(proxy.baseUrl).port)), traffic)
  }

  /** From now on writes wait, and reach the service when `letIn` is called. */
  hold(): void {
    this.#gate ??= Promise.withResolvers()
  }

  holdReads(): void {
    this.#readGate ??= Promise.withResolvers()
  }

  letIn(): void {
    this.#gate?.resolve()
    this.#readGate?.resolve()
    this.#gate = undefined
    this.#readGate = undefined
  }

  /** Resolves when so many writes have arrived. */
  async wrote(count: number): Promise<void> {
    await waitUntil(() => this.writes.length >= count)
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.letIn()
    return this.#stack.disposeAsync()
  }
}

interface TcpTunnel extends AsyncDisposable {
  readonly url: string
}

/** An HTTP proxy that connects everybody to this port, whatever is asked for. */
async function startTunnel(port: number): Promise<TcpTunnel> {
  const sockets = new Set<Duplex>()
  const server = createServer().on('connect', (_request, client: Duplex) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          client.destroy()
          upstream.destroy()
        })
    }
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    client.pipe(upstream).pipe(client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const look = async () => {
    if (!(await isSo())) throw new Error('not yet')
  }
  await eventually(look)
}
