import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
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

/** Sends requests to the tested service and records what to clean up. */
export class Probing implements AsyncDisposable {
  readonly tested: TestedService
  /** Operations that the token may not use, with the reason. */
  readonly refused = new Map<Operation, string>()
  readonly #dispatcher: Dispatcher
  /** Removals of what the present case has made. */
  readonly #removals: Cleanup[] = []
  /** These run at the end. */
  readonly #cleanups: Cleanup[] = []
  readonly #made = new Map<string, Promise<unknown>>()
  /** `clean` replaces it, so that cleanups also run after an abort. */
  #signal: AbortSignal

  constructor(tested: TestedService, signal: AbortSignal) {
    this.tested = tested
    this.#dispatcher =
      tested.dispatcher ?? new Agent({ connections: 4, connect: { rejectUnauthorized: true } })
    this.#signal = signal
  }

  /** Sends one request. Throws `Unchecked` for a write if writes are not allowed, and `NoAnswer`. */
  async send(operation: Operation, request: ApiRequest): Promise<HttpAnswer> {
    if (endpoints[operation].method !== 'GET') requireWrites(this.tested)
    try {
      const answer = await this.#sendWaitingForLimits(operation, request)
      if (answer.status < 400 || answer.status >= 500) this.#scheduleRemoval(operation, request)
      return answer
    } catch (error) {
      if (!(error instanceof Unchecked)) this.#scheduleRemoval(operation, request)
      throw error
    }
  }

  /** A new external id that no entry has. */
  newId(): string {
    return `dirsyncd-check-${randomUUID()}`
  }

  /** Registers a cleanup; they run at the end, the last one first. Throws `Unchecked` if writes are not allowed. */
  addCleanup(cleanup: Cleanup): void {
    requireWrites(this.tested)
    this.#cleanups.push(cleanup)
  }

  /** Calls `make` once per key and returns the same promise afterwards. */
  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#made.get(key) as Promise<T> | undefined
    if (known !== undefined) return known
    const making = make()
    this.#made.set(key, making)
    return making
  }

  /** Removes what the present case has made. What cannot be removed now is tried again at the end. */
  async removeEntries(): Promise<void> {
    for (const remove of this.#removals.splice(0)) {
      await remove().catch(() => this.#cleanups.push(remove))
    }
  }

  /** Runs the cleanups; returns one sentence for each that failed. */
  async clean(): Promise<readonly string[]> {
    this.#signal = AbortSignal.timeout(2 * LIMIT_WAIT_MS)
    const failed: string[] = []
    const cleanups = [...this.#cleanups.splice(0), ...this.#removals.splice(0)]
    for (const cleanup of cleanups.toReversed()) {
      await cleanup().catch((error: unknown) => failed.push(sentence(error)))
    }
    return failed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clean()
    await this.#dispatcher.destroy()
  }

  #scheduleRemoval(operation: Operation, { creates = [] }: ApiRequest): void {
    const deletion = operation === 'createUsers' ? 'deleteUser' : 'deleteGroup'
    for (const id of creates) this.#removals.push(() => this.#remove(deletion, id))
  }

  async #remove(operation: 'deleteUser' | 'deleteGroup', id: string): Promise<void> {
    const answer = await this.#sendWaitingForLimits(operation, { params: { external_id: id } })
    if (answer.status < 300 || answer.status === 404) return
    throw new Error(`${id} could not be removed: the service answered ${answer.status}`)
  }

  async #sendWaitingForLimits(operation: Operation, request: ApiRequest): Promise<HttpAnswer> {
    let answer = await this.#sendOnce(operation, request)
    for (let tries = 1; answer.status === 429 && tries < LIMIT_TRIES; tries += 1) {
      const seconds = Number(answer.header('retry-after') ?? 1)
      const wait = Number.isFinite(seconds) ? seconds * 1000 : 1000
      await sleep(Math.min(Math.max(wait, 50), LIMIT_WAIT_MS), undefined, { signal: this.#signal })
      answer = await this.#sendOnce(operation, request)
    }
    if (answer.status === 429) throw new Unchecked('the service lets no more requests through (429)')
    return answer
  }

  async #sendOnce(operation: Operation, request: ApiRequest): Promise<HttpAnswer> {
    const { tested } = this
    const signal = this.#signal
    signal.throwIfAborted()
    await tested.limit?.(signal)
    const { origin } = new URL(tested.baseUrl)
    const timeoutMs = tested.timeoutMs ?? TIMEOUT_MS
    return exchange(this.#dispatcher, origin, toHttpRequest(tested, operation, request), {
      timeoutMs,
      signal,
    })
  }
}

/** Throws `Unchecked`. */
export function requireWrites({ writes }: TestedService): void {
  if (!writes) throw new Unchecked('it writes, and writing was not allowed')
}

export function isNoAnswer(error: unknown): error is NoAnswer {
  return error instanceof NoAnswer
}
