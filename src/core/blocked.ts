import { createHash } from 'node:crypto'
import { atOnce, filterInSteps, forEachInSteps, forEachOfSizeInSteps, type Steps } from '../base/steps.ts'
import type { Block, KeyFacts } from './block.ts'
import type { Differences } from './diff/differences.ts'
import type { Kind, MemberDifference } from './entries/entry.ts'
import type { Facts } from './checks/check.ts'
import { type BlockedKeys, type Field, isMember, type Key, wholeOf } from './keys.ts'
import { order } from './order.ts'
import { type Change, type DeleteReason, kindOf, type Op } from './plan/change.ts'
import { type PlannedChange, PlannedChanges } from './plan/changes.ts'
import type { Left, PlanKeys } from './without.ts'

/** The differences that a run does not make: changes are made of them as of those that are left, so that they can be shown. */
export class Rest implements PlanKeys {
  readonly wanted: Differences
  readonly areMade = false
  readonly #left: Left
  readonly #outside: readonly BlockedKeys[]
  readonly #blocks: readonly Block[]

  constructor({ left, outside, blocks }: Pick<Facts, 'left' | 'outside' | 'blocks'>) {
    this.wanted = left.wanted
    this.#left = left
    this.#outside = outside
    this.#blocks = blocks
  }

  /** In the grace period a user leaves the groups before the delete, unless a block names the user. */
  endWithUser(id: string): boolean {
    const ofDelete: Key = ['user', id, 'delete']
    if (!this.has(ofDelete)) return false
    const isNamed = (key: Key): boolean => this.#blocks.some(({ keys }) => keys.has(key))
    return isNamed(wholeOf(ofDelete)) || !isNamed(ofDelete)
  }

  has(key: Key): boolean {
    return this.wanted.has(key) && this.#isNotMade(key)
  }

  *of(kind: Kind, field: Field): Generator<Key | undefined, void> {
    for (const key of this.wanted.of(kind, field))
      yield key !== undefined && this.#isNotMade(key) ? key : undefined
  }

  *membersIn(group: string): Steps<MemberDifference> {
    const { added, removed } = this.wanted.members.get(group) ?? { added: [], removed: [] }
    const isOut = (field: Field) => (id: string) => this.#isNotMade(['group', group, field, id])
    return {
      added: yield* filterInSteps(added, isOut('+member')),
      removed: yield* filterInSteps(removed, isOut('-member')),
    }
  }

  /** Not a member who is no user and does not become one either: such needs are in the notices. */
  #isNotMade(key: Key): boolean {
    if (this.#left.has(key) || this.#outside.some((keys) => keys.has(key))) return false
    return this.wanted.needsOf(key).every((need) => this.wanted.has(need))
  }
}

export function* keysOfChange(keys: PlanKeys, { op, id }: Change): Generator<Key, void> {
  const kind = kindOf(op)
  if (op === 'delete-user' || op === 'delete-group') yield [kind, id, 'delete']
  else
    for (const key of keys.wanted.keysOf(kind, id))
      if (isMember(key[2]) === (op === 'set-members') && keys.has(key)) yield key
}

/** Why a change is blocked: the place of a block, and what is true of this change alone. */
export interface Reason {
  readonly block: number
  readonly facts?: KeyFacts[keyof KeyFacts]
}

/** None where only the stop of the plan blocks the change, or a need that is not met. */
function* reasonsOf(blocks: readonly Block[], keys: Iterable<Key>): Steps<readonly Reason[]> {
  const found = new Map<number, Reason>()
  yield* forEachInSteps(keys, (key) => {
    const whole = wholeOf(key)
    for (const [place, { keys: named, of }] of blocks.entries()) {
      if (found.get(place)?.facts !== undefined || !(named.has(key) || named.has(whole))) continue
      const facts = of?.(key) ?? of?.(whole)
      found.set(place, { block: place, ...(facts !== undefined && { facts }) })
    }
  })
  return [...found.values()].toSorted((a, b) => a.block - b.block)
}

const NO_CHANGES = new PlannedChanges(() => {
  throw new Error('there is no change')
})

type Counts = Partial<Record<Op, number>>

export class BlockedChanges implements Iterable<{
  readonly planned: PlannedChange
  readonly reasons: readonly Reason[]
}> {
  readonly #changes: PlannedChanges
  readonly #blocks: readonly Block[]
  readonly #reasonsFor: ReasonsFor
  /** By the place of a block. */
  readonly named: number[]
  /** By operation: those with a question, and those that an operator rejected. */
  readonly asking: Counts = {}
  readonly rejected: Counts = {}
  lastRejection: KeyFacts['rejected'] | null = null
  /** Of the changes with their reasons. */
  digest = ''

  private constructor(changes: PlannedChanges, blocks: readonly Block[], reasonsFor: ReasonsFor) {
    this.#changes = changes
    this.#blocks = blocks
    this.#reasonsFor = reasonsFor
    this.named = blocks.map(() => 0)
  }

  static *of(facts: Facts, whyDeleted: WhyDeleted): Steps<BlockedChanges> {
    const { blocks, isStopped } = facts
    const rest = new Rest(facts)
    const all = blocks.length === 0 ? NO_CHANGES : yield* order(rest, whyDeleted)
    // Found in steps, because a group may have any number of members.
    const ofMembers = new Map<string, readonly Reason[]>()
    yield* forEachOfSizeInSteps(all.of('set-members'), membersIn, function* ({ change }) {
      ofMembers.set(change.id, yield* reasonsOf(blocks, keysOfChange(rest, change)))
    })
    const reasonsFor = (change: Change): readonly Reason[] =>
      change.op === 'set-members'
        ? ofMembers.get(change.id)!
        : atOnce(reasonsOf(blocks, keysOfChange(rest, change)))
    // What only needs something that is no difference has a notice instead.
    const changes = isStopped ? all : yield* all.select((change) => reasonsFor(change).length > 0)
    const blocked = new BlockedChanges(changes, blocks, reasonsFor)
    yield* blocked.#count()
    return blocked
  }

  get length(): number {
    return this.#changes.length
  }

  countOf(op: Op): number {
    return this.#changes.countOf(op)
  }

  *[Symbol.iterator](): Generator<
    { readonly planned: PlannedChange; readonly reasons: readonly Reason[] },
    void
  > {
    for (const planned of this.#changes) yield { planned, reasons: this.#reasonsFor(planned.change) }
  }

  *#count(): Steps<void> {
    const digest = createHash('sha256')
    yield* forEachInSteps(this, ({ planned, reasons }) => {
      digest.update(`${planned.fingerprint}${JSON.stringify(reasons)}\n`)
      const { op } = planned.change
      for (const { block } of reasons) this.named[block]! += 1
      const of = reasons.map(({ block }) => this.#blocks[block]!)
      if (
        of.some(({ code, until, asks }) => until === 'decision' && asks === undefined && code !== 'rejected')
      )
        this.asking[op] = (this.asking[op] ?? 0) + 1
      if (!of.some(({ code }) => code === 'rejected')) return
      this.rejected[op] = (this.rejected[op] ?? 0) + 1
      for (const { block, facts } of reasons)
        if (this.#blocks[block]!.code === 'rejected') this.#see(facts as KeyFacts['rejected'])
    })
    this.digest = digest.digest('base64url')
  }

  #see(rejection: KeyFacts['rejected']): void {
    if (this.lastRejection === null || this.lastRejection.at < rejection.at) this.lastRejection = rejection
  }
}

function membersIn({ change }: PlannedChange): number {
  return change.op === 'set-members' ? change.have.length + change.want.length : 0
}

type ReasonsFor = (change: Change) => readonly Reason[]

type WhyDeleted = (kind: Kind, id: string) => DeleteReason
