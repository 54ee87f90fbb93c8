import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { endpoints, type Operation } from '../contract/endpoints.ts'
import { sentence } from '../../base/errors.ts'
import { type HttpAnswer, NoAnswer } from './answer.ts'
import { type EntryKind, findLeftovers, type Presence, type Removed } from './leftovers.ts'
import type { ApiRequest } from './request.ts'
import { LIMIT_WAIT_MS, sendWithinLimits } from './sending.ts'
import type { TestedService } from './tested-service.ts'
import { Unchecked } from './verdict.ts'

/** For a request or a whole case, while the service fails. */
export const TRIES = 5
/** After this time the last try counts. */
export const TRY_AGAIN_MS = 60_000
/** Before the second try of a request. Each further pause doubles. */
const FIRST_PAUSE_MS = 100

/** Answers to a look-up that prove nothing about the entry. */
const SAYS_NOTHING: ReadonlySet<number> = new Set([401, 403, 408, 429])

/** Removes what the check made, or restores what it changed. */
interface Cleanup {
  readonly operation: Operation
  readonly request: ApiRequest
  /** Reported when it fails, such as "subscription 7 could not be restored". */
  readonly failure: string
}

export class Probing implements AsyncDisposable {
  readonly tested: TestedService
  /** Operations that the token may not use, with the reason. */
  readonly refused = new Map<Operation, string>()
  readonly lists = new Map<Operation, HttpAnswer>()
  readonly #dispatcher: Dispatcher
  readonly #removals: Cleanup[] = []
  /** Run at the end. */
  readonly #cleanups: Cleanup[] = []
  readonly #created = new Set<string>()
  readonly #removed: Record<EntryKind, Removed[]> = { user: [], group: [] }
  /** Operations whose last `sendUntilAnswered` failed: sent only once, so that an outage does not take hours. */
  readonly #failing = new Set<Operation>()
  /** `clean` replaces it, so that cleanups also run after an abort. */
  #signal: AbortSignal

  constructor(tested: TestedService, signal: AbortSignal) {
    this.tested = tested
    this.#dispatcher =
      tested.dispatcher ?? new Agent({ connections: 4, connect: { rejectUnauthorized: true } })
    this.#signal = signal
  }

  /** Throws `Unchecked` for a write if writes are not allowed, and `NoAnswer`. */
  async send(operation: Operation, request: ApiRequest): Promise<HttpAnswer> {
    if (endpoints[operation].method !== 'GET') requireWrites(this.tested)
    const connection = { tested: this.tested, dispatcher: this.#dispatcher }
    try {
      const answer = await sendWithinLimits(connection, operation, request, this.#signal)
      if (answer.status < 400 || answer.status >= 500) this.#scheduleRemoval(operation, request)
      if (isSuccess(answer)) for (const id of request.creates ?? []) this.#created.add(id)
      return answer
    } catch (error) {
      if (!(error instanceof Unchecked)) this.#scheduleRemoval(operation, request)
      throw error
    }
  }

  /**
   * For a request that a case needs but does not judge; retries after a server error and without an answer. `request`
   * is called before each try. Throws as `send` does.
   */
  async sendUntilAnswered(operation: Operation, request: () => ApiRequest = () => ({})): Promise<HttpAnswer> {
    const until = performance.now() + TRY_AGAIN_MS
    const tries = this.#failing.has(operation) ? 1 : TRIES
    for (let tried = 1; ; tried += 1) {
      const got = await this.send(operation, request()).catch(noAnswerOf)
      const failed = got instanceof NoAnswer || got.status >= 500
      if (!failed || tried >= tries || performance.now() > until) {
        if (failed) this.#failing.add(operation)
        else this.#failing.delete(operation)
        if (got instanceof NoAnswer) throw got
        return got
      }
      await sleep(FIRST_PAUSE_MS * 2 ** (tried - 1), undefined, { signal: this.#signal })
    }
  }

  newId(): string {
    return `dirsyncd-check-${randomUUID()}`
  }

  /** Cleanups run at the end, the last one first. Throws `Unchecked` if writes are not allowed. */
  addCleanup(cleanup: Cleanup): void {
    requireWrites(this.tested)
    this.#cleanups.push(cleanup)
  }

  /** Removes the entries of the current case. Failures are tried again at the end. */
  async removeEntries(): Promise<void> {
    for (const removal of this.#removals.splice(0)) {
      await this.#run(removal).catch(() => this.#cleanups.push(removal))
    }
  }

  /** Runs the cleanups; returns one sentence for each that failed. */
  async clean(): Promise<readonly string[]> {
    this.#signal = AbortSignal.timeout(2 * LIMIT_WAIT_MS)
    this.#failing.clear()
    const failed: string[] = []
    const cleanups = [...this.#cleanups.splice(0), ...this.#removals.splice(0)]
    for (const cleanup of cleanups.toReversed()) {
      await this.#run(cleanup).catch((error: unknown) =>
        failed.push(`${cleanup.failure}: ${sentence(error)}`),
      )
    }
    const left = await findLeftovers((kind, id) => this.#lookUp(kind, id), this.#removed)
    this.#created.clear()
    this.#removed.user.length = 0
    this.#removed.group.length = 0
    return [...failed, ...left]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clean()
    await this.#dispatcher.destroy()
  }

  #scheduleRemoval(operation: Operation, { creates = [] }: ApiRequest): void {
    const deletion = operation === 'createUsers' ? 'deleteUser' : 'deleteGroup'
    for (const id of creates) {
      const request = { params: { external_id: id } }
      this.#removals.push({ operation: deletion, request, failure: `${id} could not be removed` })
    }
  }

  async #lookUp(kind: EntryKind, id: string): Promise<Presence> {
    const read = kind === 'user' ? 'getUser' : 'getGroup'
    const answer = await this.sendUntilAnswered(read, () => ({ params: { external_id: id } })).catch(() => {})
    if (answer === undefined) return 'unknown'
    if (isSuccess(answer)) return 'there'
    const says = answer.status >= 400 && answer.status < 500 && !SAYS_NOTHING.has(answer.status)
    return says ? 'gone' : 'unknown'
  }

  async #run({ operation, request }: Cleanup): Promise<void> {
    const answer = await this.sendUntilAnswered(operation, () => request)
    const { status } = answer
    const kind = operation === 'deleteUser' ? 'user' : operation === 'deleteGroup' ? 'group' : undefined
    const id = request.params?.external_id
    if (kind === undefined || id === undefined) {
      if (!isSuccess(answer)) throw new Error(`the service answered ${status}`)
    } else if (isSuccess(answer) || status === 404) {
      this.#removed[kind].push({ id, wasCreated: this.#created.has(id) })
    } else if ((await this.#lookUp(kind, id)) !== 'gone') {
      throw new Error(`the service answered ${status}`)
    }
  }
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300
}

/** Throws `Unchecked`. */
export function requireWrites({ writes }: TestedService): void {
  if (!writes) throw new Unchecked('it writes, and writing was not allowed')
}

function noAnswerOf(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error
  throw error
}
