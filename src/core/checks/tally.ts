import { type Steps, forEachInSteps, forEachOfSizeInSteps } from '../../base/steps.ts'
import type { Guarded } from '../block.ts'
import type { Kind, MemberDifference } from '../entries/entry.ts'
import { type BlockedKeys, type Field, type Key, KeySet, forEachKey, matching, wholeOf } from '../keys.ts'
import { createChanges, isRemoval } from '../order.ts'
import type { Left } from '../without.ts'
import type { Facts, RunFacts } from './check.ts'

export const GUARDED: readonly Guarded[] = ['users', 'groups', 'memberships']

type PerKind<T> = Readonly<Record<Guarded, T>>

interface Count {
  readonly count: number
  readonly keys: BlockedKeys
}

/** Deletes and removals without an approval. */
interface Deletes extends PerKind<Count> {
  readonly leftFilter: PerKind<number>
  /** Deleted users that are created again under another id. */
  readonly newIds: PerKind<number>
}

const known = new WeakMap<Left, Deletes>()

/** All guards of a run see the same ones. */
export function* deletesIn(facts: RunFacts): Steps<Deletes> {
  const before = known.get(facts.left)
  if (before !== undefined) return before
  const [users, groups] = [yield* deletesOf(facts, 'user'), yield* deletesOf(facts, 'group')]
  const isOutside = (kind: Kind) => (id: string) => facts.rechecks.entries[kind].get(id) === 'out-of-scope'
  const again = (yield* createChanges(facts.left, () => 'gone')).transfers
  const deletes = {
    users,
    groups,
    memberships: yield* removalsOf(facts),
    leftFilter: {
      users: yield* countIn(users, isOutside('user')),
      groups: yield* countIn(groups, isOutside('group')),
      memberships: 0,
    },
    newIds: {
      users: yield* countIn(users, (id) => again.newIds.get(id) !== undefined),
      groups: 0,
      memberships: 0,
    },
  }
  known.set(facts.left, deletes)
  return deletes
}

/** Entries with another value, or members that join, without an approval. */
export function updatesIn(facts: RunFacts, kind: Guarded): Steps<Count> {
  return kind === 'memberships' ? joinsOf(facts) : updatesOf(facts, kind === 'users' ? 'user' : 'group')
}

/** Absent entries whose delete is not due, or not proved yet: a later run would make it. */
export function* laterIn({ blocks, wanted, decisions, outside }: RunFacts, guarded: Guarded): Steps<KeySet> {
  const later = new KeySet()
  if (guarded === 'memberships') return later
  const kind = guarded === 'users' ? 'user' : 'group'
  for (const { keys: blocked, until } of blocks)
    if (until === 'time' || until === 'read')
      yield* forEachKey(blocked, (key) => {
        const isDelete = key[2] === 'leave' || key[2] === 'delete'
        if (!isDelete || key[0] !== kind || !wanted.absent[kind].has(key[1])) return
        if (outside.some((keys) => keys.has(key))) return
        if (!decisions.isApproved(wholeOf(key))) later.add(wholeOf(key))
      })
  return later
}

function* deletesOf({ left, decisions }: RunFacts, kind: Kind): Steps<Count> {
  const keys = new KeySet()
  yield* forEachKey(left.of(kind, 'delete'), (key) => {
    if (!decisions.isApproved(wholeOf(key))) keys.add(wholeOf(key))
  })
  return { count: keys.size, keys }
}

function* countIn({ keys }: Count, test: (id: string) => boolean): Steps<number> {
  let count = 0
  yield* forEachKey(keys, ([, id]) => {
    if (test(id)) count += 1
  })
  return count
}

/** Counted without keeping the keys, because a fill has millions of them. */
function* counted(keys: BlockedKeys): Steps<Count> {
  let count = 0
  yield* forEachKey(keys, () => (count += 1))
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
  yield* forEachOfSizeInSteps(left.wanted.members, joinsIn, function* ([group]) {
    count += (yield* left.membersIn(group)).added.length
  })
  return { count, keys }
}

function joinsIn([, { added }]: readonly [string, MemberDifference]): number {
  return added.length
}

export const MIN_MASS_UPDATES = 20

/** Compares in whole numbers, without rounding. An empty directory (`whole` is 0) has no percentage to exceed. */
export function exceeds(part: number, whole: number, limitPercent: number): boolean {
  return part > 0 && whole > 0 && part * 100 > whole * limitPercent
}

export function* directorySizes({ wanted }: Facts): Steps<PerKind<number>> {
  const { users, groups } = wanted.snapshots.directory
  let memberships = 0
  yield* forEachInSteps(groups.values(), ({ members }) => (memberships += members.length))
  return { users: users.size, groups: groups.size, memberships }
}

/** Blocks that keep an absent entry for another reason than that its delete is not due, or not proved yet. */
const KEPT_FOR_ANOTHER_REASON: ReadonlySet<string> = new Set([
  'policy',
  'protected',
  'unreadable',
  'seen-again',
  'rejected',
])

/** Whether an absent entry will be deleted once what blocks it ends. */
export function isDeletedLater({ blocks }: RunFacts, kind: Kind, id: string): boolean {
  const key: Key = [kind, id, 'delete']
  const whole = wholeOf(key)
  return !blocks.some(
    ({ code, keys }) => KEPT_FOR_ANOTHER_REASON.has(code) && (keys.has(key) || keys.has(whole)),
  )
}
