import type { Written } from '../../api/client/methods.ts'
import { type Create, shapeOf } from '../../core/plan/batches.ts'
import { amount } from '../../base/wording.ts'
import type { ListFault } from '../../core/plan/outcome.ts'
import type { Identified } from '../entries.ts'
import type { ListedEntries, Looked, Patience, Telling } from './entries.ts'

export interface AnsweredList<Found> {
  readonly changes: readonly Create[]
  readonly status: number
  /** By external id; `undefined` where the answer shows no list of entries. */
  readonly shown: ReadonlyMap<string, Found> | undefined
}

/**
 * What the entries of a batch prove of batches. `unknown`: a lookup failed. `other`: an entry is missing or differs
 * from what was sent. `mixed-up`: one got the values of another one, so nothing more may be sent.
 */
export type Proof =
  | { readonly result: 'as-sent' | 'unknown' | 'mixed-up' }
  | { readonly result: 'other'; readonly fault: ListFault }

export interface HowToLook {
  readonly patience: Patience
  /** The largest batch of each shape that was created as sent, as lookups proved. */
  readonly proved: Map<string, number> | undefined
  readonly maySend: () => boolean
}

/** An id that the answer shows twice is left out: either of the two may be right. */
export function answeredList<Found extends Identified>(
  changes: readonly Create[],
  written: Written<readonly Found[]>,
): AnsweredList<Found> {
  const status = written.status ?? 200
  const { value } = written
  if (value === undefined) return { changes, status, shown: undefined }
  const byId = Map.groupBy(value, ({ external_id: id }) => id ?? '')
  const shown = new Map<string, Found>()
  for (const [id, [one, ...others]] of byId) if (one !== undefined && others.length === 0) shown.set(id, one)
  return { changes, status, shown }
}

/** Yields the outcomes of a batch that was answered with 2xx. */
export class Answer<Found extends Identified> {
  readonly #entries: ListedEntries<Found>
  readonly #list: AnsweredList<Found>
  readonly #how: HowToLook

  constructor(entries: ListedEntries<Found>, list: AnsweredList<Found>, how: HowToLook) {
    this.#entries = entries
    this.#list = list
    this.#how = how
  }

  /**
   * An entry that the answer shows as sent is created. Every other entry is looked up; so are all where the answer
   * shows none. Once that has proved that batches of this shape and size are created as sent, only the first and the
   * last entry of further ones are looked up: a service that reads batches wrongly loses one of these, or gives it
   * another's values.
   */
  async *tell(): Telling<Proof> {
    const { changes, status, shown } = this.#list
    if (shown === undefined) return yield* this.#tellUnshown()
    const unclear: Create[] = []
    for (const change of changes) {
      const found = shown.get(change.id)
      if (found !== undefined && this.#entries.isStored(change, found))
        yield this.#entries.applied(change, status)
      else unclear.push(change)
    }
    return yield* this.#lookUp(unclear, { isSomeThere: unclear.length < changes.length })
  }

  async *#tellUnshown(): Telling<Proof> {
    const { changes, status } = this.#list
    const { proved } = this.#how
    const [first] = changes
    const shape = first === undefined ? '' : shapeOf(first)
    if ((proved?.get(shape) ?? 0) < changes.length) {
      const proof = yield* this.#lookUp(changes)
      if (proof.result === 'as-sent') proved?.set(shape, changes.length)
      return proof
    }
    const ends = changes.filter((_, index) => index === 0 || index === changes.length - 1)
    const looked = await this.#waitFor(ends)
    if (looked.found.filter(({ change, found }) => this.#entries.isStored(change, found)).length === 2) {
      for (const change of changes) yield this.#entries.applied(change, status)
      return { result: 'as-sent' }
    }
    const proof = yield* this.#lookUp(changes, { wasWaited: true })
    if (proof.result !== 'as-sent') proved?.delete(shape)
    return proof
  }

  #waitFor(sent: readonly Create[]): Promise<Looked<Found>> {
    const isWorthWaiting = (looked: Looked<Found>) =>
      this.#how.maySend() && this.#mixedUpIn(looked) === undefined
    return this.#entries.waitFor(sent, this.#how.patience, isWorthWaiting)
  }

  #mixedUpIn(looked: Looked<Found>): string | undefined {
    return this.#entries.mixedUp(this.#list.changes, looked, this.#list.status)
  }

  async *#lookUp(sent: readonly Create[], { isSomeThere = false, wasWaited = false } = {}): Telling<Proof> {
    const { status } = this.#list
    const looked = await (wasWaited ? this.#entries.lookAt(sent) : this.#waitFor(sent))
    const mixedUp = this.#mixedUpIn(looked)
    if (mixedUp !== undefined) return yield* this.#tellMixedUp(looked, mixedUp)
    let different: ListFault | undefined
    for (const { change, found } of looked.found) {
      const difference = this.#entries.difference(change, found)
      if (this.#entries.isStored(change, found)) yield this.#entries.applied(change, status)
      else {
        different ??= this.#fault(change, difference ?? '')
        yield await this.#entries.correct(change, found, status)
      }
    }
    if (looked.failed !== undefined) yield looked.failed
    const isSomeThereNow = isSomeThere || looked.found.length > 0 || looked.failed !== undefined
    const missing = yield* this.#tellMissing(looked.missing, isSomeThereNow)
    const fault = different ?? missing
    if (fault !== undefined) return { result: 'other', fault }
    return { result: looked.failed === undefined ? 'as-sent' : 'unknown' }
  }

  async *#tellMixedUp(looked: Looked<Found>, mixedUp: string): Telling<Proof> {
    yield* this.#entries.tellMixedUp(looked, this.#list.status, mixedUp)
    if (looked.missing.length > 0) yield this.#unavailable(looked.missing)
    if (looked.failed !== undefined) yield looked.failed
    return { result: 'mixed-up' }
  }

  /**
   * Missing entries are not sent again at once. Where others of the batch exist, the next attempt looks them up and
   * sends each alone. Where the service shows none of the batch, it may only be slow, so the next run decides.
   */
  async *#tellMissing(missing: readonly Create[], isSomeThere: boolean): Telling<ListFault | undefined> {
    const { changes, status } = this.#list
    const [first, ...others] = missing
    if (first === undefined) return undefined
    const isDoubtful = isSomeThere || !this.#how.maySend()
    yield isDoubtful ? this.#unavailable(missing) : this.#notShown(missing)
    const isSingle = others.length === 0 && isSomeThere && changes.length > 2
    return { ...this.#fault(first, `was accepted with ${status}, and is not there`), isSingle }
  }

  #unavailable(missing: readonly Create[]) {
    const { changes, status } = this.#list
    const detail = `The service answered ${status} to the creation of ${changes.length} entries with one request, and this one is not there.`
    return {
      changes: missing,
      outcome: { result: 'unavailable', status, detail, answeredBy: 'service' },
    } as const
  }

  #notShown(missing: readonly Create[]) {
    const { changes, status } = this.#list
    const waited = amount(Math.round(this.#how.patience.giveUp / 1000), 'second')
    const detail = `The service answered ${status} to the creation of ${changes.length} entries with one request, and showed none of them for ${waited}; the next run looks for each before it sends it again.`
    return { changes: missing, outcome: { result: 'not-shown', status, detail } } as const
  }

  #fault({ id }: Create, what: string): ListFault {
    return { entries: 1, id, detail: `${what} (one of a list of ${this.#list.changes.length})` }
  }
}
