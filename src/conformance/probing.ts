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
/** How many times a request is sent if it is answered with 429, and the longest wait before each. */
const LIMIT_TRIES = 5
const LIMIT_WAIT_MS = 60_000

type Cleanup = () => Promise<void>

/** Sends requests to the tested service and records what to clean up at the end. */
export interface Probing extends AsyncDisposable {
  readonly tested: TestedService
  /** Operations that the token may not use, with the reason. */
  readonly refused: Map<Operation, string>
  /** Sends one request. Throws `Unchecked` for a write if writes are not allowed, and `NoAnswer`. */
  send(operation: Operation, request: ApiRequest): Promise<HttpAnswer>
  /** A new external id that no entry has. */
  newId(): string
  /** Registers a cleanup; they run at the end, the last one first. Throws `Unchecked` if writes are not allowed. */
  addCleanup(cleanup: Cleanup): void
  /** Calls `make` once per key and returns the same promise afterwards. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
  /** Runs the cleanups; returns one sentence for each that failed. */
  clean(): Promise<readonly string[]>
}

export function openProbing(tested: TestedService, signal: AbortSignal): Probing {
  const agent = new Agent({ connections: 4, pipelining: 1 })
  const { origin } = new URL(tested.baseUrl)
  const timeoutMs = tested.timeoutMs ?? TIMEOUT_MS
  const cleanups: Cleanup[] = []
  const made = new Map<string, Promise<unknown>>()
  // `clean` replaces the signal, so that cleanups also run after an abort.
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
        const deletion = operation === 'createUsers' ? 'deleteUser' : 'deleteGroup'
        for (const id of request.creates ?? []) cleanups.push(() => remove(deletion, id))
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

export function isNoAnswer(error: unknown): error is NoAnswer {
  return error instanceof NoAnswer
}
