import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { sentence } from '../../base/errors.ts'
import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'
import type { ApiRequest } from './request.ts'
import { RequestFailed, SkipCase } from './result.ts'
import { LIMIT_WAIT_MS, sendWithinLimits } from './sending.ts'
import type { TestedService } from './tested-service.ts'

const RETRY_PAUSE_MS = 200

/** Removes what the suite created, or restores what it changed. */
interface Cleanup {
  readonly operation: Operation
  readonly request: ApiRequest
  /** Reported when it fails, such as "subscription 7 could not be restored". */
  readonly failure: string
}

/** The connection to a tested service, and what has to be undone there. */
export class Session implements AsyncDisposable {
  readonly tested: TestedService
  /** First pages, read once. */
  readonly lists = new Map<Operation, HttpAnswer>()
  readonly #dispatcher: Dispatcher
  /** Operations that the token may not use, with the reason. */
  readonly #refused = new Map<Operation, string>()
  /** The clean-up of each entry of the current case, by external id. */
  readonly #removals = new Map<string, Cleanup>()
  /** Run at the end. */
  readonly #cleanups: Cleanup[] = []
  /** `clean` replaces it, so that cleanups also run after an abort. */
  #signal: AbortSignal

  constructor(tested: TestedService, signal: AbortSignal) {
    this.tested = tested
    this.#dispatcher =
      tested.dispatcher ?? new Agent({ connections: 4, connect: { rejectUnauthorized: true } })
    this.#signal = signal
  }

  /** Throws `SkipCase` for a write if writes are not allowed, and `RequestFailed`. */
  async send(operation: Operation, request: ApiRequest = {}): Promise<HttpAnswer> {
    if (endpoints[operation].method !== 'GET') this.requireWrites()
    const connection = { tested: this.tested, dispatcher: this.#dispatcher }
    try {
      const answer = await sendWithinLimits(connection, operation, request, this.#signal)
      if (answer.status < 400) this.#scheduleRemoval(operation, request)
      if (isSuccess(answer) && isDeletion(operation)) this.#removals.delete(request.params?.external_id ?? '')
      return answer
    } catch (error) {
      if (!(error instanceof SkipCase)) this.#scheduleRemoval(operation, request)
      throw error
    }
  }

  /** Throws `SkipCase` if the token lacks the scope, and as `send` does. */
  async sendAllowed(operation: Operation, request: ApiRequest = {}): Promise<HttpAnswer> {
    this.requireScope(operation)
    const answer = await this.send(operation, request)
    if (answer.status === 401 || answer.status === 403) {
      const { number, scope }: Endpoint = endpoints[operation]
      const reason = `the service answered ${answer.status} to #${number}: the token seems to lack the scope ${scope}`
      this.#refused.set(operation, reason)
      throw new SkipCase(reason)
    }
    return answer
  }

  /** Throws `SkipCase`. */
  requireWrites(): void {
    if (!this.tested.writes) throw new SkipCase('it writes, and writing was not allowed')
  }

  /** Throws `SkipCase` if the token was refused before. */
  requireScope(operation: Operation): void {
    const refused = this.#refused.get(operation)
    if (refused !== undefined) throw new SkipCase(refused)
  }

  /** Tries once more if a request fails, because the reason may be temporary. */
  async withSecondTry<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      await sleep(RETRY_PAUSE_MS, undefined, { signal: this.#signal })
      return work()
    }
  }

  newId(): string {
    return `dirsyncd-check-${randomUUID()}`
  }

  /** Cleanups run at the end, the last one first. Throws `SkipCase` if writes are not allowed. */
  addCleanup(cleanup: Cleanup): void {
    this.requireWrites()
    this.#cleanups.push(cleanup)
  }

  /** Removes the entries of the current case. Failures are tried again at the end. */
  async removeEntries(): Promise<void> {
    const removals = [...this.#removals.values()]
    this.#removals.clear()
    for (const removal of removals) {
      await this.#run(removal).catch(() => this.#cleanups.push(removal))
    }
  }

  /** Runs the cleanups; returns one sentence for each that failed. */
  async clean(): Promise<readonly string[]> {
    this.#signal = AbortSignal.timeout(2 * LIMIT_WAIT_MS)
    const failed: string[] = []
    const cleanups = [...this.#cleanups.splice(0), ...this.#removals.values()]
    this.#removals.clear()
    for (const cleanup of cleanups.toReversed()) {
      await this.withSecondTry(() => this.#run(cleanup)).catch((error: unknown) =>
        failed.push(`${cleanup.failure}: ${sentence(error)}`),
      )
    }
    return failed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clean()
    await this.#dispatcher.destroy()
  }

  #scheduleRemoval(operation: Operation, { creates = [] }: ApiRequest): void {
    const deletion = operation === 'createUsers' ? 'deleteUser' : 'deleteGroup'
    for (const id of creates) {
      const request = { params: { external_id: id } }
      this.#removals.set(id, { operation: deletion, request, failure: `${id} could not be removed` })
    }
  }

  async #run({ operation, request }: Cleanup): Promise<void> {
    const answer = await this.send(operation, request)
    const isGone = isDeletion(operation) && (answer.status === 404 || answer.status === 410)
    if (!isGone && !isSuccess(answer)) throw new Error(`the service answered ${answer.status}`)
  }
}

function isDeletion(operation: Operation): boolean {
  return endpoints[operation].method === 'DELETE'
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300
}
