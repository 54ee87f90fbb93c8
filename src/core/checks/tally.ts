import { forEachInSteps, forEachOfSizeInSteps, type Steps } from '../../base/steps.ts'
import type { Guarded } from '../block.ts'
import type { Kind } from '../entries/entry.ts'
import { type BlockedKeys, type Field, type Key, KeySet, matching, wholeOf } from '../keys.ts'
import { createChanges, isRemoval } from '../order.ts'
import type { Left } from '../without.ts'
import type { RunFacts } from './run-facts.ts'

export const GUARDED: readonly Guarded[] = ['users', 'groups', 'memberships']

export type PerKind<T> = Readonly<Record<Guarded, T>>

/** How many changes count against a limit, and the keys that a guard names for them. */
export interface Count {
  readonly count: number
  readonly keys: BlockedKeys
}

/** What a plan takes away and changes without an approval. */
export interface Tally {
  readonly deletes: PerKind<Count>
  /** Entries with another value, and members that join. */
  readonly updates: PerKind<Count>
  /** Absent entries whose delete is not due, or not believed yet: a later run would make it. */
  readonly later: PerKind<KeySet>
  readonly leftFilter: PerKind<number>
  /** Deleted users that are created again under another id. */
  readonly newIds: PerKind<number>
}

const tallies = new WeakMap<Left, Tally>()

/** All guards of a run see the same one. */
export function* tallyOf(facts: RunFacts): Steps<Tally> {
  const known = tallies.get(facts.left)
  if (known !== undefined) return known
  const { transfers } = yield* createChanges(facts.left, () => 'gone')
  const [users, groups] = [yield* deletesOf(facts, 'user'), yield* deletesOf(facts, 'group')]
  const outside = (kind: Kind, { keys }: Count): number =>
    [...keys].filter(([, id]) => facts.rechecks.entries[kind].get(id) === 'out-of-scope').length
  const tally: Tally = {
    deletes: { users, groups, memberships: yield* removalsOf(facts) },
    updates: {
      users: yield* updatesOf(facts, 'user'),
      groups: yield* updatesOf(facts, 'group'),
      memberships: yield* joinsOf(facts),
    },
    later: {
      users: yield* laterOf(facts, 'user'),
      groups: yield* laterOf(facts, 'group'),
      memberships: new KeySet(),
    },
    leftFilter: { users: outside('user', users), groups: outside('group', groups), memberships: 0 },
    newIds: {
      users: [...users.keys].filter(([, id]) => transfers.newIdOf(id) !== undefined).length,
      groups: 0,
      memberships: 0,
    },
  }
  tallies.set(facts.left, tally)
  return tally
}

function* deletesOf({ left, decisions }: RunFacts, kind: Kind): Steps<Count> {
  const keys = new KeySet()
  yield* forEachInSteps(left.of(kind, 'delete'), (key) => {
    if (!decisions.isApproved(wholeOf(key))) keys.add(wholeOf(key))
  })
  return { count: keys.size, keys }
}

/** Counted without keeping the keys, because a fill has millions of them. */
function* counted(keys: BlockedKeys): Steps<Count> {
  let count = 0
  yield* forEachInSteps(keys, () => (count += 1))
  return { count, keys }
}

function removalsOf({ left, decisions }: RunFacts): Steps<Count> {
  const isCounted = (key: Key) => isRemoval(left, key) && !decisions.isApproved(key)
  return counted(matching(left, ['-member'], isCounted))
}

const VALUES: readonly Field[] = ['name', 'email']

function* updatesOf({ left, wanted, decisions }: RunFacts, kind: Kind): Steps<Count> {
  const keys = matching(
    left,
    VALUES,
    (key) => key[0] === kind && wanted.isThere(kind, key[1]) && !decisions.isApproved(key),
  )
  const ids = kind === 'user' ? wanted.updates : wanted.snapshots.directory.groups.keys()
  let count = 0
  yield* forEachInSteps(ids, (id) => {
    const own = VALUES.map((field) => wanted.keyOfValue(kind, id, field as 'name' | 'email'))
    if (own.some((key) => key !== undefined && keys.has(key))) count += 1
  })
  return { count, keys }
}

function* joinsOf({ left, decisions }: RunFacts): Steps<Count> {
  const keys = matching(left, ['+member'], (key) => !decisions.isApproved(key))
  if (decisions.ledger.approvals.size > 0) return yield* counted(keys)
  let count = 0
  const sizeOf = ([, { added }]: readonly [string, { readonly added: readonly string[] }]) => added.length
  yield* forEachOfSizeInSteps(left.wanted.members, sizeOf, function* ([group]) {
    count += (yield* left.membersIn(group)).added.length
  })
  return { count, keys }
}

function* laterOf({ blocks, wanted, decisions }: RunFacts, kind: Kind): Steps<KeySet> {
  const later = new KeySet()
  for (const { keys, until } of blocks)
    if (until === 'time' || until === 'read')
      yield* forEachInSteps(keys, (key) => {
        const isDelete = key[2] === 'leave' || key[2] === 'delete'
        if (!isDelete || key[0] !== kind || !wanted.absent[kind].has(key[1])) return
        if (!decisions.isApproved(wholeOf(key))) later.add(wholeOf(key))
      })
  return later
}
