import { differenceInSteps } from '../../base/sorting.ts'
import { type Steps, filterInSteps, forEachInSteps, forEachOfSizeInSteps } from '../../base/steps.ts'
import type { DirectoryUser, Kind, MemberDifference, UserEntry } from '../entries/entry.ts'
import { canonicalEmail, isSameEmail } from '../entries/normalize.ts'
import { differingIds, sharingEmail } from '../entries/users.ts'
import { Compared, Differences, type EmailConflict, type Snapshots } from './differences.ts'
import { compileSelections } from '../plan/selection.ts'
import type { DiffRules } from './rules.ts'
import { listAt } from '../../base/lists.ts'
import { byCodeUnit } from '../../base/order.ts'

/** A pure function: the same snapshots and rules give the same keys, in whatever order entries were read. */
export function* diff(snapshots: Snapshots, rules: DiffRules): Steps<Differences> {
  const scope = new Compared({ snapshots, rules, selections: compileSelections(rules.entries) })
  const absent = yield* absentEntries(scope)
  const emails = yield* conflictsOf(scope)
  const differing = yield* memberDifferences(scope, absent)
  const [members, reported] = rules.membership === 'write' ? [differing, NO_MEMBERS] : [NO_MEMBERS, differing]
  const unwritable = new Set<string>()
  const updates: string[] = []
  const values = new Differences(scope, { absent, emails, members, reported, unwritable, updates })
  const isOther = (id: string, field: 'name' | 'email') => values.valueOf('user', id, field) !== undefined
  yield* forEachInSteps(differingIds(snapshots, 'source'), (id) => {
    if (values.wantedUser(id) === undefined) unwritable.add(id)
    else if (values.isThere('user', id) && (isOther(id, 'name') || isOther(id, 'email'))) updates.push(id)
  })
  return values
}

const NO_MEMBERS: ReadonlyMap<string, MemberDifference> = new Map()

/** An id that the directory has twice is left out, because the API cannot tell the two entries apart. */
function* absentEntries(scope: Compared): Steps<Record<Kind, ReadonlySet<string>>> {
  const { source, directory } = scope.snapshots
  const twice: Record<Kind, Set<string | undefined>> = { user: new Set(), group: new Set() }
  for (const { code, kind, id } of directory.notices) if (code === 'shared-id') twice[kind].add(id)
  const isAbsent = (kind: Kind) => (id: string) =>
    !source.seen[kind].has(id) && !twice[kind].has(id) && !scope.isExcluded(kind, id)
  const users = new Set<string>()
  const isUser = isAbsent('user')
  yield* forEachInSteps(differingIds(scope.snapshots, 'directory'), (id) => {
    if (isUser(id)) users.add(id)
  })
  const groups = source.covers.groups ? [...directory.groups.keys()] : []
  return { user: users, group: new Set(yield* filterInSteps(groups, isAbsent('group'))) }
}

function* conflictsOf(scope: Compared): Steps<ReadonlyMap<string, EmailConflict>> {
  const { rules, snapshots } = scope
  if (rules.emails === 'shared') return new Map()
  const sharing = yield* sharingEmail(snapshots)
  return yield* emailConflicts(claims(scope, sharing.source), sharing.directory)
}

/** The users whose e-mail this run may write, or that have it. */
function* claims(scope: Compared, users: Iterable<UserEntry>): Generator<UserEntry, void> {
  const { rules, snapshots } = scope
  for (const { id } of users) {
    const want = scope.wantedUser(id)
    if (want?.email === undefined) continue
    const have = snapshots.directory.users.get(id)
    if (have === undefined || rules.policy !== 'create-only' || isSameEmail(want.email, have.email))
      yield want
  }
}

function* memberDifferences(
  scope: Compared,
  absent: Readonly<Record<Kind, ReadonlySet<string>>>,
): Steps<ReadonlyMap<string, MemberDifference>> {
  const { source, directory } = scope.snapshots
  const found = new Map<string, MemberDifference>()
  if (scope.rules.membership === 'off' || !source.covers.members) return found
  const isOut = (id: string): boolean => scope.isExcluded('user', id)
  const mayJoin = (id: string): boolean => source.users.has(id) && !isOut(id)
  const mayLeave = (id: string): boolean => !isOut(id) && (source.users.has(id) || !source.seen.user.has(id))
  yield* forEachOfSizeInSteps(
    source.groups.values(),
    ({ members }) => members.length,
    function* (group) {
      if (scope.isExcluded('group', group.id)) return
      const have = directory.groups.get(group.id)?.members ?? []
      const difference = yield* differenceInSteps(have, group.members)
      const added = yield* filterInSteps(difference.added, mayJoin)
      const removed = yield* filterInSteps(difference.removed, mayLeave)
      if (added.length + removed.length > 0) found.set(group.id, { added, removed })
    },
  )
  for (const id of absent.group) {
    const removed = yield* filterInSteps(directory.groups.get(id)?.members ?? [], (member) =>
      absent.user.has(member),
    )
    if (removed.length > 0) found.set(id, { added: [], removed })
  }
  return found
}

/**
 * Each e-mail has one owner: a user that has it and keeps it, so that it does not change hands with every run, otherwise
 * the one with the smallest id.
 *
 * @param claiming users of the source whose e-mail this run may write, or which have it
 * @param holders at least the directory's users that share an e-mail with one of them
 */
function* emailConflicts(
  claiming: Iterable<UserEntry>,
  holders: Iterable<DirectoryUser>,
): Steps<ReadonlyMap<string, EmailConflict>> {
  const wantedBy = yield* byEmail(claiming)
  const heldBy = yield* byEmail(holders)
  const conflicts = new Map<string, EmailConflict>()
  yield* forEachInSteps(wantedBy, ([email, wanting]) => {
    const held = heldBy.get(email) ?? []
    if (wanting.length === 1 && held.every((id) => id === wanting[0])) return
    const all = new Set(wanting)
    const having = held.toSorted(byCodeUnit)
    const keeping = having.filter((id) => all.has(id))
    conflicts.set(email, { owner: keeping[0] ?? smallest(wanting), holders: having, keeping })
  })
  return conflicts
}

function* byEmail(
  users: Iterable<{ readonly id: string; readonly email: string | null | undefined }>,
): Steps<ReadonlyMap<string, readonly string[]>> {
  const ids = new Map<string, string[]>()
  yield* forEachInSteps(users, ({ id, email }) => {
    if (email) listAt(ids, canonicalEmail(email)).push(id)
  })
  return ids
}

function smallest(ids: readonly string[]): string | undefined {
  return ids.reduce((least, id) => (id < least ? id : least), ids[0]!)
}
