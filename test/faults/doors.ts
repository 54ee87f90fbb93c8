import { vi } from 'vitest'
import { type ApiProxy, type Interception, startApiProxy } from '../support/api-proxy.ts'
import { writesOf } from './write-history.ts'

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
  readonly baseUrl: string
  /** `create u1`, in the order of arrival. */
  readonly writes: string[] = []
  /** When each request arrived, reads included, in milliseconds since 1970. */
  readonly arrivals: number[] = []
  /** How many writes the service has answered; each entry of a list is one. */
  answered = 0
  /** What the next write gets instead of reaching the service. */
  refuseNext: Interception | undefined
  readonly #proxy: ApiProxy
  #gate: PromiseWithResolvers<void> | undefined
  #readGate: PromiseWithResolvers<void> | undefined

  private constructor(proxy: ApiProxy, traffic: Traffic) {
    this.#proxy = proxy
    this.baseUrl = proxy.baseUrl
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
    return new Door(await startApiProxy(serviceUrl), traffic)
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
    return Promise.resolve(this.#proxy[Symbol.asyncDispose]())
  }
}

export async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const look = async () => {
    if (!(await isSo())) throw new Error('not yet')
  }
  await vi.waitFor(look, { timeout: 60_000, interval: 5 })
}
