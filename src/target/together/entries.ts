import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiError, asMaybeDone, isApiError } from '../../api/client/api-error.ts'
import type { Create } from '../../core/plan/batches.ts'
import { differenceIn, isStored, whyMixedUp } from '../../core/plan/canary.ts'
import type { Outcome, SharedOutcome } from '../../core/plan/outcome.ts'
import type { Creations } from '../creations.ts'
import { type Identified, isEntryOf } from '../entries.ts'
import { complete, type FoundEntry, type WriteContext } from '../idempotent.ts'
import { outcomeOf } from '../try-change.ts'

/** Yields each outcome as soon as it is known. */
export type Telling<Result = void> = AsyncGenerator<SharedOutcome, Result, void>

/** How long to wait for entries that a service claims to have created. */
export interface Patience {
  /** Before the next lookup, in milliseconds; doubles with each further one. */
  readonly first: number
  readonly giveUp: number
}

export interface Looked<Found> {
  readonly found: readonly { readonly change: Create; readonly found: Found }[]
  readonly missing: readonly Create[]
  /** The failed lookup, and the entries that were not looked up because of it. */
  readonly failed: SharedOutcome | undefined
}

interface LookOptions {
  /** No request can have created them. */
  readonly unsent?: boolean
  /** The failure of the request that may have created them. */
  readonly lost?: ApiError
  readonly untilMissing?: boolean
}

/** A request of several changes counts for the first of them that ends. */
export class RequestCount {
  readonly #before: (() => void) | undefined
  #count = 0

  constructor(before: (() => void) | undefined) {
    this.#before = before
  }

  readonly add = (): void => {
    this.#before?.()
    this.#count += 1
  }

  take(): number {
    const count = this.#count
    this.#count = 0
    return count
  }
}

export class ListedEntries<Found extends Identified> {
  readonly #context: WriteContext
  readonly #creations: Creations<Found>
  readonly #requests: RequestCount

  constructor(context: WriteContext, creations: Creations<Found>, requests: RequestCount) {
    this.#context = context
    this.#creations = creations
    this.#requests = requests
  }

  /** Whether the service shows what was sent, or a form of it. */
  isStored(change: Create, found: Found): boolean {
    return isEntryOf(change.id, found) && isStored(change, this.#creations.shown(found))
  }

  difference(change: Create, found: Found): string | undefined {
    if (!isEntryOf(change.id, found)) return `shows the entry "${found.external_id}"`
    return differenceIn(change, this.#creations.shown(found))
  }

  /** Why the run must stop: one of these entries has the values of another one of its batch. */
  mixedUp(list: readonly Create[], { found }: Looked<Found>, status: number | undefined): string | undefined {
    const theirs = found.filter((each) => isEntryOf(each.change.id, each.found))
    const readBacks = theirs.map((each) => ({
      change: each.change,
      status: status ?? null,
      shown: this.#creations.shown(each.found),
    }))
    return whyMixedUp(list, readBacks)
  }

  applied(change: Create, status: number | undefined): SharedOutcome {
    return { changes: [change], outcome: { result: 'applied', status, requests: this.#requests.take() } }
  }

  /** Looks entries up until one lookup fails. */
  async lookAt(
    changes: readonly Create[],
    { unsent = false, lost, untilMissing = false }: LookOptions = {},
  ): Promise<Looked<Found>> {
    const all: Looked<Found>['found'][number][] = []
    const missing: Create[] = []
    for (const [index, change] of changes.entries()) {
      const looked = await this.#find(change, unsent, lost)
      if ('failure' in looked)
        return { found: all, missing, failed: { changes: changes.slice(index), outcome: looked.failure } }
      if (looked.found !== undefined) all.push({ change, found: looked.found })
      else if (untilMissing)
        return { found: all, missing: [...missing, ...changes.slice(index)], failed: undefined }
      else missing.push(change)
    }
    return { found: all, missing, failed: undefined }
  }

  /**
   * Looks up entries that a service claims to have created, and missing ones again for a while: a service may show
   * entries late. Until the last lookup, the first missing one stands for those after it.
   */
  async waitFor(
    changes: readonly Create[],
    { first, giveUp }: Patience,
    isWorthWaiting: (looked: Looked<Found>) => boolean,
  ): Promise<Looked<Found>> {
    let looked = await this.lookAt(changes, { untilMissing: giveUp > 0 })
    for (let waitMs = first, leftMs = giveUp; leftMs > 0; waitMs *= 2) {
      if (looked.missing.length === 0 || looked.failed !== undefined || !isWorthWaiting(looked)) break
      await sleep(Math.min(waitMs, leftMs), undefined, { signal: this.#context.signal })
      leftMs -= waitMs
      const again = await this.lookAt(looked.missing, { untilMissing: leftMs > 0 })
      looked = { ...again, found: [...looked.found, ...again.found] }
    }
    return looked
  }

  async #find(
    change: Create,
    unsent: boolean,
    lost: ApiError | undefined,
  ): Promise<{ readonly found: Found | undefined } | { readonly failure: Outcome }> {
    try {
      return { found: await this.#creations.of(change).find() }
    } catch (error) {
      return { failure: outcomeOf(!unsent && isApiError(error) ? asMaybeDone(error, lost) : error) }
    }
  }

  async complete(change: Create, { found, wasThere }: FoundEntry<Found>): Promise<SharedOutcome> {
    const changes = [change]
    try {
      const creation = this.#creations.of(change)
      const { outcome, ...answer } = await complete(this.#context, creation, { found, wasThere })
      return { changes, outcome: { result: outcome, ...answer, requests: this.#requests.take() } }
    } catch (error) {
      return { changes, outcome: outcomeOf(error) }
    }
  }

  /** Also where the service refuses the correction, the entry counts as created: the next run plans an update. */
  async correct(change: Create, found: Found, status: number | undefined): Promise<SharedOutcome> {
    const told = await this.complete(change, { found, wasThere: false })
    const isRefused = told.outcome?.result === 'refused' || told.outcome?.result === 'forbidden'
    return isRefused ? this.applied(change, status) : told
  }

  /** The wrong values stay, for the operator of the service; a run after the repair corrects them. */
  *tellMixedUp(
    { found }: Looked<Found>,
    status: number | undefined,
    mixedUp: string,
  ): Generator<SharedOutcome, void> {
    for (const { change } of found) {
      const requests = this.#requests.take()
      yield { changes: [change], outcome: { result: 'applied', status, requests, mixedUp } }
    }
  }
}
