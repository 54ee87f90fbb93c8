import { listAt } from '../base/lists.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import type { Differences } from './diff/differences.ts'
import type { Kind } from './entries/entry.ts'
import type { Field, Key, Keys } from './keys.ts'

/** What is left of the differences without blocked keys and all that needs them. */
export class Left implements Keys {
  readonly wanted: Differences
  readonly #isBlocked: (key: Key) => boolean
  /** Users whose e-mail is not written, because its need is not met. */
  readonly #withoutEmail: ReadonlySet<string>

  constructor(wanted: Differences, isBlocked: (key: Key) => boolean, withoutEmail: ReadonlySet<string>) {
    this.wanted = wanted
    this.#isBlocked = isBlocked
    this.#withoutEmail = withoutEmail
  }

  has(key: Key): boolean {
    return this.wanted.has(key) && !this.#isOut(key)
  }

  *of(kind: Kind, field: Field): Generator<Key, void> {
    for (const key of this.wanted.of(kind, field)) if (!this.#isOut(key)) yield key
  }

  *membersOf(group: string, field: '+member' | '-member'): Generator<Key, void> {
    for (const key of this.wanted.membersOf(group, field)) if (!this.#isOut(key)) yield key
  }

  #isOut(key: Key): boolean {
    const [, id, field] = key
    if (this.#isBlocked(key)) return true
    // E-mails may need each other in a circle, so they were decided before.
    if (field === 'email')
      return this.#withoutEmail.has(id) || this.wanted.ownNeedsOf(key).some((need) => !this.has(need))
    return this.wanted.needsOf(key).some((need) => !this.has(need))
  }
}

/** Takes blocked keys out, and what needs them. A circle of e-mails stays where none of it is blocked. */
export function* without(wanted: Differences, isBlocked: (key: Key) => boolean): Steps<Left> {
  const out = new Set<string>()
  const left = new Left(wanted, isBlocked, out)
  const neededBy = new Map<string, string[]>()
  yield* forEachInSteps(wanted.transfers(), ([key, needs]) => {
    const [, id] = key
    for (const [, holder, field] of needs) if (field === 'email') listAt(neededBy, holder).push(id)
    const isUnmet = (need: Key): boolean =>
      need[2] === 'email' ? !wanted.has(need) || isBlocked(need) : !left.has(need)
    if (isBlocked(key) || needs.some(isUnmet) || wanted.ownNeedsOf(key).some((need) => !left.has(need)))
      out.add(id)
  })
  // The set grows during the loop.
  yield* forEachInSteps(out, (id) => {
    for (const other of neededBy.get(id) ?? []) out.add(other)
  })
  return left
}
