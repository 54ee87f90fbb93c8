import { listAt } from '../base/lists.ts'
import { type Steps, filterInSteps, forEachInSteps } from '../base/steps.ts'
import type { Differences } from './diff/differences.ts'
import type { Kind, MemberDifference } from './entries/entry.ts'
import { type BlockedKeys, FIELDS, type Field, type Key, type Keys } from './keys.ts'

export interface PlanKeys extends Keys {
  readonly wanted: Differences
  /** By this run. */
  readonly areMade: boolean
  /** Whether the memberships of a user end with the delete of the user. */
  endWithUser(id: string): boolean
  membersIn(group: string): Steps<MemberDifference>
}

/** What is left of the differences without blocked keys and all that needs them. */
export class Left implements PlanKeys {
  readonly wanted: Differences
  readonly areMade = true
  /** By field, so that a key costs nothing where no block names its field. */
  readonly #blocked: ReadonlyMap<Field, readonly BlockedKeys[]>
  /** Users whose e-mail is not written, because its need is not met. */
  readonly #withoutEmail: ReadonlySet<string>

  constructor(wanted: Differences, blocked: readonly BlockedKeys[], withoutEmail: ReadonlySet<string>) {
    this.wanted = wanted
    this.#blocked = new Map(
      FIELDS.map((field) => [field, blocked.filter(({ fields }) => fields.has(field))] as const),
    )
    this.#withoutEmail = withoutEmail
  }

  has(key: Key): boolean {
    return this.wanted.has(key) && !this.#isOut(key)
  }

  endWithUser(id: string): boolean {
    return this.has(['user', id, 'delete'])
  }

  *of(kind: Kind, field: Field): Generator<Key | undefined, void> {
    for (const key of this.wanted.of(kind, field))
      yield key === undefined || this.#isOut(key) ? undefined : key
  }

  *membersOf(group: string, field: '+member' | '-member'): Generator<Key | undefined, void> {
    for (const key of this.wanted.membersOf(group, field)) yield this.#isOut(key) ? undefined : key
  }

  *membersIn(group: string): Steps<MemberDifference> {
    const { added, removed } = this.wanted.members.get(group) ?? { added: [], removed: [] }
    const mayJoin = (id: string): boolean =>
      !this.isBlocked(['group', group, '+member', id]) && !this.#isEntryOut('user', id)
    return {
      added: this.#isEntryOut('group', group) ? [] : yield* filterInSteps(added, mayJoin),
      removed: yield* filterInSteps(removed, (id) => !this.#isOut(['group', group, '-member', id])),
    }
  }

  isBlocked(key: Key): boolean {
    const some = this.#blocked.get(key[2])!
    return some.some((keys) => keys.has(key))
  }

  /** Whether the entry is not there and is not created either. */
  #isEntryOut(kind: Kind, id: string): boolean {
    return !this.wanted.isThere(kind, id) && !this.has([kind, id, 'create'])
  }

  #isOut(key: Key): boolean {
    const [, id, field] = key
    if (this.isBlocked(key)) return true
    // E-mails may need each other in a circle, so they were decided before.
    if (field === 'email')
      return this.#withoutEmail.has(id) || this.wanted.ownNeedsOf(key).some((need) => !this.has(need))
    return this.wanted.needsOf(key).some((need) => !this.has(need))
  }
}

/** Takes blocked keys out, and what needs them. A circle of e-mails stays where none of it is blocked. */
export function* without(wanted: Differences, blocked: readonly BlockedKeys[]): Steps<Left> {
  const out = new Set<string>()
  const left = new Left(wanted, blocked, out)
  const neededBy = new Map<string, string[]>()
  yield* forEachInSteps(wanted.transfers(), (transfer) => {
    if (transfer === undefined) return
    const { key, needs } = transfer
    const [, id] = key
    for (const [, holder, field] of needs) if (field === 'email') listAt(neededBy, holder).push(id)
    const isUnmet = (need: Key): boolean =>
      need[2] === 'email' ? !wanted.has(need) || left.isBlocked(need) : !left.has(need)
    const isOut = left.isBlocked(key) || needs.some(isUnmet)
    if (isOut || wanted.ownNeedsOf(key).some((need) => !left.has(need))) out.add(id)
  })
  // The set grows during the loop.
  yield* forEachInSteps(out, (id) => {
    for (const other of neededBy.get(id) ?? []) out.add(other)
  })
  return left
}
