import { filterInSteps, forEachInSteps, forEachOfSizeInSteps, type Steps } from '../../base/steps.ts'
import type { Kind, UserEntry } from '../entries/entry.ts'
import { isSameEmail } from '../entries/normalize.ts'
import { differingIds, differingUsers, sharingEmail } from '../entries/users.ts'
import { compileSelections } from '../plan/selection.ts'
import { Differences, isExcluded, type Compared, type Snapshots, wantedUser } from './differences.ts'
import type { DiffRules } from './rules.ts'
import { emailConflicts, type EmailConflicts } from './emails.ts'
import { diffMembers, type MemberDifference } from './members.ts'

/** A pure function: the same snapshots and rules give the same keys, in whatever order entries were read. */
export function* diff(snapshots: Snapshots, rules: DiffRules): Steps<Differences> {
  const scope = { snapshots, rules, selections: compileSelections(rules.entries) }
  const absent = yield* absentEntries(scope)
  const emails = yield* conflictsOf(scope)
  const differing = yield* memberDifferences(scope, absent)
  const [members, reported] = rules.membership === 'write' ? [differing, NO_MEMBERS] : [NO_MEMBERS, differing]
  const unwritable = new Set<string>()
  const updates: string[] = []
  const found = { ...scope, absent, emails, members, reported, unwritable, updates }
  const values = new Differences(found)
  const { source, directory } = snapshots
  const isOther = (id: string, field: 'name' | 'email') => values.valueOf('user', id, field) !== undefined
  yield* forEachInSteps(differingUsers({ source: source.users, directory: directory.users }), ({ id }) => {
    if (wantedUser(scope, id) === undefined) unwritable.add(id)
    else if (directory.users.has(id) && (isOther(id, 'name') || isOther(id, 'email'))) updates.push(id)
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
    !source.seen[kind].has(id) && !twice[kind].has(id) && !isExcluded(scope, kind, id)
  const users = new Set<string>()
  const isUser = isAbsent('user')
  yield* forEachInSteps(
    differingIds({ source: source.users, directory: directory.users }, 'directory'),
    (id) => {
      if (isUser(id)) users.add(id)
    },
  )
  const groups = source.covers.groups ? [...directory.groups.keys()] : []
  return { user: users, group: new Set(yield* filterInSteps(groups, isAbsent('group'))) }
}

function* conflictsOf(scope: Compared): Steps<EmailConflicts> {
  const { rules, snapshots } = scope
  if (rules.emails === 'shared') return new Map()
  const { source, directory } = snapshots
  const sharing = yield* sharingEmail({ source: source.users, directory: directory.users })
  return yield* emailConflicts(claims(scope, sharing.source), sharing.directory)
}

/** The users whose e-mail this run may write, or that have it. */
function* claims(scope: Compared, users: Iterable<UserEntry>): Generator<UserEntry, void> {
  const { rules, snapshots } = scope
  for (const { id } of users) {
    const want = wantedUser(scope, id)
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
  const isOut = (id: string): boolean => isExcluded(scope, 'user', id)
  const tests = {
    mayJoin: (id: string) => source.users.has(id) && !isOut(id),
    isLeftAlone: (id: string) => (source.users.has(id) ? isOut(id) : source.seen.user.has(id) || isOut(id)),
  }
  yield* forEachOfSizeInSteps(
    source.groups.values(),
    ({ members }) => members.length,
    function* (group) {
      if (isExcluded(scope, 'group', group.id)) return
      const difference = yield* diffMembers(group, directory.groups.get(group.id), tests)
      if (difference !== undefined) found.set(group.id, difference)
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
