import { type ApiError, asMaybeDone, isApiError } from '../../api/client/api-error.ts'
import type { AccessManagementClient } from '../../api/client/client.ts'
import type { Create } from '../../core/plan/batches.ts'
import { isStored, type Shown, whyMixedUp } from '../../core/plan/verification.ts'
import type { BatchFault, Outcome, SharedOutcome } from '../../core/plan/outcome.ts'
import {
  complete,
  contextOf,
  findOf,
  type HowToApply,
  type TargetDirectory,
  type WriteContext,
} from '../apply-change.ts'
import { isEntryOf, sendCreates } from '../entries.ts'
import { outcomeOf, tryChange } from '../try-change.ts'

export interface HowToCreate extends HowToApply {
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
  return new Batch(contextOf(client, target, how, signal), how).run(changes)
}

interface Looked {
  readonly found: readonly { readonly change: Create; readonly found: Shown }[]
  readonly missing: readonly Create[]
  /** The failed lookup, and the entries that were not looked up because of it. */
  readonly failed: SharedOutcome | undefined
}

class Batch {
  readonly #context: WriteContext
  readonly #how: HowToCreate

  constructor(context: WriteContext, how: HowToCreate) {
    this.#context = context
    this.#how = how
  }

  async *run(all: readonly Create[]): Outcomes {
    const changes = this.#how.check ? yield* this.#thoseMissing(all) : all
    if (changes.length < 2) return yield* this.#sendAlone(changes)
    if (!this.#how.maySend()) return yield { changes, outcome: undefined }
    let answer: Awaited<ReturnType<typeof sendCreates>>
    try {
      answer = await sendCreates(this.#context, changes)
    } catch (error) {
      if (!isApiError(error)) throw error
      return yield* this.#afterFailure(changes, error)
    }
    if (!isAsSent(changes, answer.shown)) return yield* this.#afterOtherAnswer(changes, answer.status ?? 200)
    for (const change of changes) yield this.#applied(change, answer.status)
  }

  /** A service may show an entry late, so a missing one is not sent again at once. */
  async *#afterOtherAnswer(changes: readonly Create[], status: number): Outcomes {
    const looked = await this.#lookUp(changes)
    const other =
      looked.missing[0] ?? looked.found.find((each) => !isCreated(each.change, each.found))?.change
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
    if (this.#how.check && mixedUpIn(changes, looked, null) !== undefined)
      return yield* this.#settle(changes, looked, { status: undefined, missing: undefined })
    for (const { change, found } of looked.found) yield await this.#complete(change, found, false)
    if (looked.failed !== undefined)
      return yield { ...looked.failed, changes: [...looked.missing, ...looked.failed.changes] }
    yield* this.#sendAlone(looked.missing)
  }

  /** Ends a batch that may have been created. */
  async *#settle(
    changes: readonly Create[],
    looked: Looked,
    { status, missing }: { readonly status: number | undefined; readonly missing: Outcome | undefined },
  ): Outcomes {
    const mixedUp = mixedUpIn(changes, looked, status ?? null)
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
    for (const { change, found } of there) yield await this.#complete(change, found, true)
    if (failed === undefined) return missing
    yield { ...failed, changes: [...missing, ...failed.changes] }
    return []
  }

  async *#sendAlone(changes: readonly Create[]): Outcomes {
    const { client, target, signal } = this.#context
    const { maySend } = this.#how
    const how = { ...this.#how, check: false }
    for (const [index, change] of changes.entries()) {
      if (!maySend()) return yield { changes: changes.slice(index), outcome: undefined }
      yield { changes: [change], outcome: await tryChange(client, target, change, how, signal) }
    }
  }

  /** Looks entries up until one lookup fails. `lost`: the failure of the request that may have created them. */
  async #lookUp(changes: readonly Create[], lost?: ApiError | 'unsent'): Promise<Looked> {
    const there: Looked['found'][number][] = []
    const missing: Create[] = []
    for (const [index, change] of changes.entries()) {
      try {
        const found = await findOf(this.#context, change)
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

  /** Also where the service refuses the correction, the entry counts as created: the next run plans an update. */
  async #correct(change: Create, found: Shown, status: number | undefined): Promise<SharedOutcome> {
    if (status !== undefined && isCreated(change, found)) return this.#applied(change, status)
    const settled = await this.#complete(change, found, false)
    const isRefused = settled.outcome?.result === 'refused' || settled.outcome?.result === 'forbidden'
    return isRefused ? this.#applied(change, status) : settled
  }

  async #complete(change: Create, found: Shown, wasThere: boolean): Promise<SharedOutcome> {
    const changes = [change]
    try {
      const done = await complete(this.#context, change, { found, wasThere })
      return { changes, outcome: { ...done, requests: this.#context.takeRequests() } }
    } catch (error) {
      return { changes, outcome: outcomeOf(error) }
    }
  }

  #applied(change: Create, status: number | undefined, mixedUp?: string): SharedOutcome {
    // A request of several entries counts for the first of them that ends.
    const requests = this.#context.takeRequests()
    const outcome = {
      result: 'applied',
      status,
      requests,
      ...(mixedUp !== undefined && { mixedUp }),
    } as const
    return { changes: [change], outcome }
  }
}

function isAsSent(changes: readonly Create[], all: readonly Shown[]): boolean {
  const byId = Map.groupBy(all, ({ id }) => id ?? '')
  return changes.every((change) => {
    const [shown, ...others] = byId.get(change.id) ?? []
    return shown !== undefined && others.length === 0 && isCreated(change, shown)
  })
}

function isCreated(change: Create, shown: Shown): boolean {
  return isEntryOf(change.id, shown) && isStored(change, shown)
}

function mixedUpIn(batch: readonly Create[], { found }: Looked, status: number | null): string | undefined {
  const theirs = found.filter((each) => isEntryOf(each.change.id, each.found))
  return whyMixedUp(
    batch,
    theirs.map(({ change, found: shown }) => ({ change, status, shown })),
  )
}
