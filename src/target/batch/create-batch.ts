import { type ApiError, asMaybeDone, isApiError } from '../../api/client/api-error.ts'
import type { AccessManagementClient } from '../../api/client/client.ts'
import type { Written } from '../../api/client/methods.ts'
import type { Create } from '../../core/plan/batches.ts'
import { isStored, whyMixedUp } from '../../core/plan/verification.ts'
import type { BatchFault, Outcome, SharedOutcome } from '../../core/plan/outcome.ts'
import type { HowToApply } from '../apply-change.ts'
import { type Creations, groupCreations, userCreations } from '../creations.ts'
import { type Identified, isEntryOf } from '../entries.ts'
import { complete, type FoundEntry, type TargetDirectory, type WriteContext } from '../idempotent.ts'
import { outcomeOf, tryChange } from '../try-change.ts'

interface HowToCreate extends HowToApply {
  /** Called before each write; on `false`, the rest is not sent. */
  readonly maySend: () => boolean
  /** Called where the service did something else than to create the batch as sent. */
  readonly onFault: (fault: BatchFault) => void
}

/** Yields each outcome as soon as it is known. */
type Outcomes<Result = void> = AsyncGenerator<SharedOutcome, Result, void>

/**
 * Creates several entries of one kind with one request. A 2xx that shows each entry as sent is done. Otherwise each
 * entry is looked up:
 *
 * - Where one has the values of another one, nothing more is sent, and nothing is corrected.
 * - One that exists is compared and updated.
 * - A missing one is sent alone where the service refused the batch. Where the service may still create it, it is
 *   `unavailable`; its next attempt looks it up and sends it alone.
 *
 * Any other failure is that of every entry. Throws an abort and what `beforeRequest` throws; entries without an outcome
 * may have been created then.
 */
export function createBatch(
  client: AccessManagementClient,
  target: TargetDirectory,
  changes: readonly Create[],
  how: HowToCreate,
  signal: AbortSignal,
): Outcomes {
  const requests = { count: 0 }
  const onRequest = (): void => {
    how.beforeRequest?.()
    requests.count += 1
  }
  const context = { client, directoryId: target.directoryId, signal, onRequest, target, check: how.check }
  return changes[0]?.op === 'create-group'
    ? new Batch(context, groupCreations(context), how, requests).run(changes)
    : new Batch(context, userCreations(context), how, requests).run(changes)
}

interface Looked<Found> {
  readonly found: readonly { readonly change: Create; readonly found: Found }[]
  readonly missing: readonly Create[]
  /** The failed lookup, and the entries that were not looked up because of it. */
  readonly failed: SharedOutcome | undefined
}

class Batch<Found extends Identified> {
  readonly #context: WriteContext
  readonly #creations: Creations<Found>
  readonly #how: HowToCreate
  readonly #requests: { count: number }

  constructor(
    context: WriteContext,
    creations: Creations<Found>,
    how: HowToCreate,
    requests: { count: number },
  ) {
    this.#context = context
    this.#creations = creations
    this.#how = how
    this.#requests = requests
  }

  async *run(all: readonly Create[]): Outcomes {
    const changes = this.#how.check ? yield* this.#thoseMissing(all) : all
    if (changes.length < 2) return yield* this.#sendAlone(changes)
    if (!this.#how.maySend()) return yield { changes, outcome: undefined }
    let answer: Written<readonly Found[]>
    try {
      answer = await this.#creations.send(changes)
    } catch (error) {
      if (!isApiError(error)) throw error
      return yield* this.#afterFailure(changes, error)
    }
    if (!this.#isAsSent(changes, answer)) return yield* this.#afterOtherAnswer(changes, answer.status ?? 200)
    for (const change of changes) yield this.#applied(change, answer.status)
  }

  #isAsSent(changes: readonly Create[], { value = [] }: Written<readonly Found[]>): boolean {
    const byId = Map.groupBy(value, ({ external_id: id }) => id ?? '')
    return changes.every((change) => {
      const [shown, ...others] = byId.get(change.id) ?? []
      return shown !== undefined && others.length === 0 && this.#isStored(change, shown)
    })
  }

  #isStored(change: Create, found: Found): boolean {
    return isEntryOf(change.id, found) && isStored(change, this.#creations.shown(found))
  }

  /** A service may show an entry late, so a missing one is not sent again at once. */
  async *#afterOtherAnswer(changes: readonly Create[], status: number): Outcomes {
    const looked = await this.#lookUp(changes)
    const other =
      looked.missing[0] ?? looked.found.find((each) => !this.#isStored(each.change, each.found))?.change
    const detail = `The service answered ${status} to the creation of ${changes.length} entries with one request, and does not show each as sent`
    this.#how.onFault({ id: other?.id, detail })
    const outcome: Outcome = {
      result: 'unavailable',
      status,
      detail: `${detail}; this one is not there.`,
      answeredBy: 'service',
      timedOut: true,
    }
    yield* this.#settle(changes, looked, { status, missing: outcome })
  }

  async *#afterFailure(changes: readonly Create[], error: ApiError): Outcomes {
    const isRefusal = isApiError(error, 'refused', 'conflict', 'not-found', 'forbidden')
    const isSent = isRefusal || error.maybeDone
    if (!isSent || isApiError(error, 'aborted', 'closed')) return yield { changes, outcome: outcomeOf(error) }
    const detail = `The service did not take ${changes.length} entries with one request (${error.message.replace(/\.$/, '')})`
    this.#how.onFault({ id: undefined, detail })
    const looked = await this.#lookUp(changes, error.maybeDone ? error : undefined)
    if (error.maybeDone)
      return yield* this.#settle(changes, looked, { status: undefined, missing: outcomeOf(error) })
    // A refused batch may conflict with entries that are older; where they were looked up, there are none.
    if (this.#how.check && this.#whyMixedUp(changes, looked, undefined) !== undefined)
      return yield* this.#settle(changes, looked, { status: undefined, missing: undefined })
    for (const { change, found } of looked.found)
      yield await this.#complete(change, { found, wasThere: false })
    if (looked.failed !== undefined)
      return yield { ...looked.failed, changes: [...looked.missing, ...looked.failed.changes] }
    yield* this.#sendAlone(looked.missing)
  }

  /** Ends a batch that may have been created. */
  async *#settle(
    changes: readonly Create[],
    looked: Looked<Found>,
    { status, missing }: { readonly status: number | undefined; readonly missing: Outcome | undefined },
  ): Outcomes {
    const mixedUp = this.#whyMixedUp(changes, looked, status)
    for (const { change, found } of looked.found)
      yield mixedUp === undefined
        ? await this.#correct(change, found, status)
        : this.#applied(change, status, mixedUp)
    if (looked.failed !== undefined) yield looked.failed
    if (looked.missing.length > 0) yield { changes: looked.missing, outcome: missing }
  }

  /** Completes entries that existed before. Returns the others; none where a lookup fails. */
  async *#thoseMissing(changes: readonly Create[]): Outcomes<readonly Create[]> {
    const { found: there, missing, failed } = await this.#lookUp(changes, 'unsent')
    for (const { change, found } of there) yield await this.#complete(change, { found, wasThere: true })
    if (failed === undefined) return missing
    yield { ...failed, changes: [...missing, ...failed.changes] }
    return []
  }

  async *#sendAlone(changes: readonly Create[]): Outcomes {
    const { client, target, signal } = this.#context
    const { beforeRequest, maySend } = this.#how
    const how = { check: false, ...(beforeRequest !== undefined && { beforeRequest }) }
    for (const [index, change] of changes.entries()) {
      if (!maySend()) return yield { changes: changes.slice(index), outcome: undefined }
      yield { changes: [change], outcome: await tryChange(client, target, change, how, signal) }
    }
  }

  /** Looks entries up until one lookup fails. `lost`: the failure of the request that may have created them. */
  async #lookUp(changes: readonly Create[], lost?: ApiError | 'unsent'): Promise<Looked<Found>> {
    const there: Looked<Found>['found'][number][] = []
    const missing: Create[] = []
    for (const [index, change] of changes.entries()) {
      try {
        const found = await this.#creations.of(change).find()
        if (found === undefined) missing.push(change)
        else there.push({ change, found })
      } catch (error) {
        const isOpen = lost !== 'unsent' && isApiError(error)
        const outcome = outcomeOf(isOpen ? asMaybeDone(error, lost) : error)
        return { found: there, missing, failed: { changes: changes.slice(index), outcome } }
      }
    }
    return { found: there, missing, failed: undefined }
  }

  #whyMixedUp(
    batch: readonly Create[],
    { found }: Looked<Found>,
    status: number | undefined,
  ): string | undefined {
    const theirs = found.filter((each) => isEntryOf(each.change.id, each.found))
    const readBacks = theirs.map((each) => ({
      change: each.change,
      status: status ?? null,
      shown: this.#creations.shown(each.found),
    }))
    return whyMixedUp(batch, readBacks)
  }

  /** Also where the service refuses the correction, the entry counts as created: the next run plans an update. */
  async #correct(change: Create, found: Found, status: number | undefined): Promise<SharedOutcome> {
    if (status !== undefined && this.#isStored(change, found)) return this.#applied(change, status)
    const settled = await this.#complete(change, { found, wasThere: false })
    const isRefused = settled.outcome?.result === 'refused' || settled.outcome?.result === 'forbidden'
    return isRefused ? this.#applied(change, status) : settled
  }

  async #complete(change: Create, { found, wasThere }: FoundEntry<Found>): Promise<SharedOutcome> {
    const changes = [change]
    try {
      const creation = this.#creations.of(change)
      const { outcome, ...answer } = await complete(this.#context, creation, { found, wasThere })
      return { changes, outcome: { result: outcome, ...answer, requests: this.#takeRequests() } }
    } catch (error) {
      return { changes, outcome: outcomeOf(error) }
    }
  }

  #applied(change: Create, status: number | undefined, mixedUp?: string): SharedOutcome {
    const requests = this.#takeRequests()
    const outcome = {
      result: 'applied',
      status,
      requests,
      ...(mixedUp !== undefined && { mixedUp }),
    } as const
    return { changes: [change], outcome }
  }

  /** A request of several entries counts for the first of them that ends. */
  #takeRequests(): number {
    const { count } = this.#requests
    this.#requests.count = 0
    return count
  }
}
