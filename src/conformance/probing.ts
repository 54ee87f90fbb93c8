import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { endpoints, type Operation } from '../contract/endpoints.ts'
import { sentence } from '../errors.ts'
import { type HttpAnswer, exchange, NoAnswer } from './answer.ts'
import { type ApiRequest, toHttpRequest } from './request.ts'
import type { TestedService } from './tested-service.ts'
import { Unchecked } from './verdict.ts'

const TIMEOUT_MS = 30_000
/** How often a request that met a limit is sent again, and how long that may take each time. */
const LIMIT_TRIES = 5
const LIMIT_WAIT_MS = 60_000

type Cleanup = () => Promise<void>

/** The tested service while it is probed: sends requests, and remembers what is to be removed or put back. */
export interface Probing extends AsyncDisposable {
  readonly tested: TestedService
  /** Operations that the token may not use, with what the service said. */
  readonly refused: Map<Operation, string>
  /** The answer to one request. Throws `Unchecked` for what writes unless that is allowed, and `NoAnswer`. */
  send(operation: Operation, request: ApiRequest): Promise<HttpAnswer>
  /** An external id that nobody has. */
  newId(): string
  /** Done at the end, the last one first. Throws `Unchecked` where writing is not allowed. */
  addCleanup(cleanup: Cleanup): void
  /** Makes something once. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
  /** Removes what was made and puts back what was changed; gives a sentence for each thing that could not be. */
  clean(): Promise<readonly string[]>
}

export function openProbing(tested: TestedService, signal: AbortSignal): Probing {
  const agent = new Agent({ connections: 4, pipelining: 1 })
  const { origin } = new URL(tested.baseUrl)
  const timeoutMs = tested.timeoutMs ?? TIMEOUT_MS
  const cleanups: Cleanup[] = []
  const made = new Map<string, Promise<unknown>>()
  // What was made is removed also when the probing was interrupted.
  let stop = signal

  async function sendOnce(operation: Operation, request: ApiRequest): Promise<HttpAnswer> {
    stop.throwIfAborted()
    await tested.limit?.(stop)
    return exchange(agent, origin, toHttpRequest(tested, operation, request), { timeoutMs, signal: stop })
  }

  async function sendWaitingForLimits(operation: Operation, request: ApiRequest): Promise<HttpAnswer> {
    let answer = await sendOnce(operation, request)
    for (let tries = 1; answer.status === 429 && tries < LIMIT_TRIES; tries += 1) {
      const seconds = Number(answer.header('retry-after') ?? 1)
      const wait = Number.isFinite(seconds) ? seconds * 1000 : 1000
      await sleep(Math.min(Math.max(wait, 50), LIMIT_WAIT_MS), undefined, { signal: stop })
      answer = await sendOnce(operation, request)
    }
    if (answer.status === 429) throw new Unchecked('the service lets no more requests through (429)')
    return answer
  }

  async function remove(operation: 'deleteUser' | 'deleteGroup', id: string): Promise<void> {
    const answer = await sendWaitingForLimits(operation, { params: { external_id: id } })
    if (answer.status < 300 || answer.status === 404) return
    throw new Error(`${id} could not be removed: the service answered ${answer.status}`)
  }

  const probing: Probing = {
    tested,
    refused: new Map(),
    async send(operation, request) {
      if (endpoints[operation].method !== 'GET') requireWrites(tested)
      const scheduleRemoval = () => {
        const operationOf = operation === 'createUsers' ? 'deleteUser' : 'deleteGroup'
        for (const id of request.creates ?? []) cleanups.push(() => remove(operationOf, id))
      }
      try {
        const answer = await sendWaitingForLimits(operation, request)
        if (answer.status < 400 || answer.status >= 500) scheduleRemoval()
        return answer
      } catch (error) {
        if (!(error instanceof Unchecked)) scheduleRemoval()
        throw error
      }
    },
    newId: () => `dirsyncd-check-${randomUUID()}`,
    addCleanup(cleanup) {
      requireWrites(tested)
      cleanups.push(cleanup)
    },
    once<T>(key: string, make: () => Promise<T>) {
      const known = made.get(key) as Promise<T> | undefined
      if (known !== undefined) return known
      const making = make()
      made.set(key, making)
      return making
    },
    async clean() {
      stop = AbortSignal.timeout(2 * LIMIT_WAIT_MS)
      const failed: string[] = []
      for (let next = cleanups.pop(); next !== undefined; next = cleanups.pop()) {
        await next().catch((error: unknown) => failed.push(sentence(error)))
      }
      return failed
    },
    [Symbol.asyncDispose]: async () => {
      await probing.clean()
      await agent.destroy()
    },
  }
  return probing
}

/** Throws `Unchecked`. */
export function requireWrites({ writes }: TestedService): void {
  if (!writes) throw new Unchecked('it writes, and writing was not allowed')
}

/** The service did not answer; whether it will is not known. */
export function isNoAnswer(error: unknown): error is NoAnswer {
  return error instanceof NoAnswer
}
