import { type ApiError, isApiError } from '../../api/client/api-error.ts'
import type { AccessManagementClient } from '../../api/client/client.ts'
import type { Create } from '../../core/plan/batches.ts'
import type { HowToApply } from '../apply-change.ts'
import type { ListFault, SharedOutcome } from '../../core/plan/outcome.ts'
import type { Identified } from '../entries.ts'
import { type Creations, groupCreations, userCreations } from '../creations.ts'
import type { TargetDirectory, WriteContext } from '../idempotent.ts'
import { outcomeOf, tryChange } from '../try-change.ts'
import { Answer, answeredList, type AnsweredList } from './answer.ts'
import { ListedEntries, type Looked, type Patience, RequestCount, type Telling } from './entries.ts'
import { halvesOf, type List, nextAfter } from './next.ts'

export interface HowToCreate extends HowToApply {
  /** Called before each batch; on `false`, the rest is not sent. */
  readonly maySend: () => boolean
  /** Called when batches must be smaller, or end. */
  readonly onListFault: (fault: ListFault) => void
  readonly patience: Patience
}

/**
 * Creates several entries of one kind with as few requests as the service allows, and yields the outcome of each:
 *
 * - A refused batch is halved until the refused entry stands alone, which is then treated as sent alone. Before, each
 *   entry is looked up, because the service may have created a part of the batch; only missing ones are sent again.
 *   Once no entry of a batch existed, only the first and last entry of further ones with the same status are looked up,
 *   as long as they are missing.
 * - After a 409 each entry is looked up first; those that exist are compared and updated.
 * - After an unknown outcome each entry is looked up. Missing ones are not sent again now, because the service may
 *   still be creating them. They are `unavailable`; their next attempt looks again.
 * - After a 2xx, each entry that the answer does not show as sent is looked up, for as long as `patience` says. Where
 *   it differs, it is updated, unless it has the values of another one: then nothing more is sent. Where none of the
 *   batch exists, they are `not-shown`.
 * - Any other failure is that of every entry of the batch.
 *
 * Throws an abort and what `beforeRequest` throws. Entries without an outcome may have been created then.
 */
export function createTogether(
  client: AccessManagementClient,
  target: TargetDirectory,
  changes: readonly Create[],
  how: HowToCreate,
  signal: AbortSignal,
): Telling {
  const requests = new RequestCount(how.beforeRequest)
  const { directoryId } = target
  const context = { client, directoryId, signal, onRequest: requests.add, target, check: how.check }
  return changes[0]?.op === 'create-group'
    ? new Creating(context, groupCreations(context), how, requests).run(changes)
    : new Creating(context, userCreations(context), how, requests).run(changes)
}

class Creating<Found extends Identified> {
  readonly #context: WriteContext
  readonly #creations: Creations<Found>
  readonly #how: HowToCreate
  readonly #entries: ListedEntries<Found>
  /** The largest batch that was halved, and why; the largest that was accepted. */
  #halved: { readonly length: number; readonly why: string } | undefined
  #longestAccepted = 1
  #isMixedUp = false

  constructor(context: WriteContext, creations: Creations<Found>, how: HowToCreate, requests: RequestCount) {
    this.#context = context
    this.#creations = creations
    this.#how = how
    this.#entries = new ListedEntries(context, creations, requests)
  }

  async *run(changes: readonly Create[]): Telling {
    const looked = this.#how.check
    const lists = listsOf(looked ? yield* this.#lookUpThoseBefore(changes) : changes, looked)
    let isAccepted = true
    for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
      if (this.#isMixedUp || !this.#how.maySend()) {
        yield { changes: [list, ...lists].flatMap((left) => left.changes), outcome: undefined }
        return
      }
      const [alone, ...others] = list.changes
      if (others.length > 0) lists.push(...(yield* this.#create(list)))
      else if (alone !== undefined) isAccepted = (yield* this.#createAlone(alone)) && isAccepted
    }
    // The service refused the batch, and none of its entries.
    if (this.#halved !== undefined && isAccepted) this.#sayTooLong(this.#halved)
  }

  #sayTooLong({ length, why }: { readonly length: number; readonly why: string }): void {
    const entries = this.#longestAccepted
    const accepted = entries === 1 ? 'each of them alone' : `all of them in lists of ${entries} and less`
    const detail = `the service refused a list of ${length} entries and took ${accepted}: ${why}`
    this.#how.onListFault({ entries, id: undefined, detail })
  }

  async *#createAlone(change: Create): Telling<boolean> {
    const { client, target, signal } = this.#context
    const { beforeRequest } = this.#how
    const how = { check: false, ...(beforeRequest !== undefined && { beforeRequest }) }
    const outcome = await tryChange(client, target, change, how, signal)
    yield { changes: [change], outcome }
    return outcome.result === 'applied'
  }

  /** Sends one request. Returns the next batches, the last one first. */
  async *#create(list: List): Telling<readonly List[]> {
    let answered: AnsweredList<Found>
    try {
      answered = answeredList(list.changes, await this.#creations.send(list.changes))
    } catch (error) {
      if (!isApiError(error)) throw error
      return yield* this.#afterFailure(list, error)
    }
    this.#longestAccepted = Math.max(this.#longestAccepted, list.changes.length)
    const { patience, maySend, onListFault } = this.#how
    const how = { patience, maySend, proved: this.#context.target.proved }
    const proof = yield* new Answer(this.#entries, answered, how).tell()
    if (proof.result === 'other') onListFault(proof.fault)
    this.#isMixedUp = proof.result === 'mixed-up'
    return []
  }

  async *#afterFailure(list: List, error: ApiError): Telling<readonly List[]> {
    switch (nextAfter(error, list.looked)) {
      case 'share':
        yield { changes: list.changes, outcome: outcomeOf(error) }
        return []
      case 'look':
        yield* this.#afterUnknown(list.changes, error)
        return []
      case 'look-and-go-on': {
        const missing = yield* this.#lookUpSent(list, error)
        const next = listsOf(missing, true)
        return missing.length < list.changes.length ? next : next.flatMap((each) => this.#halve(each, error))
      }
      case 'look-at-ends':
        return yield* this.#afterRefusal(list, error)
      case 'halve':
        return this.#halve(list, error)
    }
  }

  #halve(list: List, error: ApiError): readonly List[] {
    this.#halved ??= { length: list.changes.length, why: error.message }
    return halvesOf(list)
  }

  /** A service may create some entries of a batch and then refuse it. */
  async *#afterRefusal(list: List, error: ApiError): Telling<readonly List[]> {
    if (this.#context.target.refusesWhole?.has(error.status) === true) {
      const { changes } = list
      const ends = await this.#entries.lookAt([changes[0]!, changes.at(-1)!])
      if (ends.failed === undefined && ends.found.length === 0) return this.#halve(list, error)
    }
    const missing = yield* this.#lookUpSent(list, error)
    return listsOf(missing, true).flatMap((each) => this.#halve(each, error))
  }

  /** Completes entries that existed before. Returns the others; none where a lookup fails. */
  async *#lookUpThoseBefore(changes: readonly Create[]): Telling<readonly Create[]> {
    const looked = await this.#entries.lookAt(changes, { unsent: true })
    for (const { change, found } of looked.found)
      yield await this.#entries.complete(change, { found, wasThere: true })
    return yield* this.#tellFailed(looked)
  }

  /**
   * The same for a refused batch. The service may have created some of it: those before the entry that it refused, or
   * all others. An entry behind a missing one existed before; so did all where none is missing, because a batch that
   * was created whole is not refused.
   */
  async *#lookUpSent(
    { changes, looked: wereMissing }: List,
    { status }: ApiError,
  ): Telling<readonly Create[]> {
    const looked = await this.#entries.lookAt(changes)
    const { refusesWhole } = this.#context.target
    if (looked.found.length > 0) refusesWhole?.delete(status)
    else if (looked.failed === undefined && changes.length > 2) refusesWhole?.add(status)
    const mixedUp = wereMissing ? this.#entries.mixedUp(changes, looked, undefined) : undefined
    if (mixedUp !== undefined) {
      this.#isMixedUp = true
      yield* this.#entries.tellMixedUp(looked, undefined, mixedUp)
      return looked.missing
    }
    const [firstMissing] = looked.missing
    const until = firstMissing === undefined ? -1 : changes.indexOf(firstMissing)
    for (const { change, found } of looked.found) {
      const wasThere = !wereMissing && changes.indexOf(change) > until
      yield await this.#entries.complete(change, { found, wasThere })
    }
    return yield* this.#tellFailed(looked)
  }

  *#tellFailed({ missing, failed }: Looked<Found>): Generator<SharedOutcome, readonly Create[]> {
    if (failed === undefined) return missing
    yield { ...failed, changes: [...missing, ...failed.changes] }
    return []
  }

  async *#afterUnknown(changes: readonly Create[], lost: ApiError): Telling {
    if (lost.timedOut) {
      const detail = `the service took too long for a list of ${changes.length} entries: ${lost.message}`
      this.#how.onListFault({ entries: Math.floor(changes.length / 2), id: undefined, detail })
    }
    const looked = await this.#entries.lookAt(changes, { lost })
    const mixedUp = this.#entries.mixedUp(changes, looked, undefined)
    if (mixedUp === undefined) {
      for (const { change, found } of looked.found)
        yield await this.#entries.correct(change, found, undefined)
    } else {
      this.#isMixedUp = true
      yield* this.#entries.tellMixedUp(looked, undefined, mixedUp)
    }
    if (looked.failed !== undefined) yield looked.failed
    if (looked.missing.length > 0) yield { changes: looked.missing, outcome: outcomeOf(lost) }
  }
}

function listsOf(changes: readonly Create[], looked: boolean): List[] {
  return changes.length === 0 ? [] : [{ changes, looked }]
}
