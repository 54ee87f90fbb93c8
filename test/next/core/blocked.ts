import { filterInSteps, type Steps } from '../../../src/base/steps.ts'
import type { Block } from './checks/check.ts'
import type { Differences } from './diff/differences.ts'
import type { MemberDifference } from './diff/members.ts'
import type { Kind } from '../../../src/core/entries/entry.ts'
import { type Field, isMember, type Key, wholeOf } from './keys.ts'
import { type Change, kindOf } from '../../../src/core/plan/change.ts'
import type { Left, PlanKeys } from './without.ts'

/** The differences that a run does not make: changes are made of them as of those that are left, so that they can be shown. */
export class Rest implements PlanKeys {
  readonly wanted: Differences
  readonly #left: Left

  constructor(left: Left) {
    this.wanted = left.wanted
    this.#left = left
  }

  has(key: Key): boolean {
    return this.wanted.has(key) && !this.#left.has(key)
  }

  *of(kind: Kind, field: Field): Generator<Key, void> {
    for (const key of this.wanted.of(kind, field)) if (!this.#left.has(key)) yield key
  }

  *membersIn(group: string): Steps<MemberDifference> {
    const { added, removed } = this.wanted.members.get(group) ?? { added: [], removed: [] }
    const isOut = (field: Field) => (id: string) => !this.#left.has(['group', group, field, id])
    return {
      added: yield* filterInSteps(added, isOut('+member')),
      removed: yield* filterInSteps(removed, isOut('-member')),
    }
  }
}

/** The keys that a change makes. */
export function* keysOfChange(keys: PlanKeys, { op, id }: Change): Generator<Key, void> {
  const kind = kindOf(op)
  if (op === 'delete-user' || op === 'delete-group') yield [kind, id, 'delete']
  else
    for (const key of keys.wanted.keysOf(kind, id))
      if (isMember(key[2]) === (op === 'set-members') && keys.has(key)) yield key
}

/** Which of the blocks name a change, by their places; none where only the stop of the plan keeps it. */
export function blocksOf(blocks: readonly Block[], keys: Iterable<Key>): readonly number[] {
  const places = new Set<number>()
  for (const key of keys)
    for (const [place, block] of blocks.entries())
      if (block.keys.has(key) || block.keys.has(wholeOf(key))) places.add(place)
  return [...places]
}
