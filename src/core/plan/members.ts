import type { DirectoryGroup, GroupEntry, Kind } from '../entries/entry.ts'
import type { Notice } from '../notice.ts'
import { unionInSteps } from '../entries/sorting.ts'
import { filterInSteps, forEachOfSizeInSteps, PART, type Steps } from '../../base/steps.ts'
import { membersDifference } from './change.ts'
import type { Difference } from './diff.ts'
import type { PlanInputs } from './inputs.ts'
import { mayDelete } from './policy.ts'
import type { Selection } from './selection.ts'

export type IdTest = (id: string) => boolean

/**
 * Compares the members of every group of the source that exists in the directory or is created by the plan.
 * @param afterwards the entries of the directory after the plan's other changes: only these users can be members, and
 *   only these groups can have any. Deleting a user also removes the user from all groups
 * @param leaving absent users that the plan does not delete yet; their memberships are removed
 */
export function* planMembers(
  inputs: PlanInputs,
  selections: Readonly<Record<Kind, Selection>>,
  { user: isUser, group: isGroup }: Readonly<Record<Kind, IdTest>>,
  leaving: ReadonlySet<string>,
  visit: (group: string, found: Difference) => void,
): Steps<void> {
  const { source, directory, rules } = inputs
  if (rules.membership === 'off' || !source.covers.members) return undefined
  /** The source skipped the user, or the lists exclude it: its memberships do not change. */
  const isLeftAlone = (id: string): boolean => {
    if (!source.users.has(id)) return source.seen.user.has(id)
    if (selections.user.isAll) return false
    return selections.user.excludedBy(id, source.users.get(id)?.from) !== undefined
  }
  const tests = { isUser, isLeftAlone, leaving }
  return yield* forEachOfSizeInSteps(source.groups.values(), sizeOf, function* (group) {
    const have = directory.groups.get(group.id)
    if (!isGroup(group.id) || (have !== undefined && rules.policy === 'create-only')) return undefined
    if (selections.group.excludedBy(group.id, group.from) !== undefined) return undefined
    if (have !== undefined && (yield* isUnchanged(group, have, tests))) return undefined
    const found = yield* differenceOf(inputs, group, have, tests)
    if (found !== undefined) visit(group.id, found)
  })
}

export function sizeOf({ members }: Pick<GroupEntry, 'members'>): number {
  return members.length
}

interface MemberTests {
  readonly isUser: IdTest
  readonly isLeftAlone: IdTest
  readonly leaving: ReadonlySet<string>
}

/** Whether both sides list the same users and none needs a check, as in most groups. */
function* isUnchanged(
  { members }: GroupEntry,
  have: DirectoryGroup,
  { isUser, isLeftAlone }: MemberTests,
): Steps<boolean> {
  if (members.length !== have.members.length) return false
  for (const [place, id] of members.entries()) {
    if (id !== have.members[place] || !isUser(id) || isLeftAlone(id)) return false
    if (place % PART === PART - 1) yield
  }
  return true
}

function* differenceOf(
  inputs: PlanInputs,
  group: GroupEntry,
  have: DirectoryGroup | undefined,
  tests: MemberTests,
): Steps<Difference | undefined> {
  const { directory, rules } = inputs
  const { isUser } = tests
  const left = yield* filterInSteps(have?.members ?? [], (id) => isUser(id) || !directory.users.has(id))
  const { want, notices } = yield* wantedMembers(inputs, group, have, left, tests)
  if (isSame(left, want)) return notices.length === 0 ? undefined : { notices }
  if (rules.membership === 'report') return { notices: [...notices, membershipNotice(group, left, want)] }
  const change = {
    op: 'set-members',
    id: group.id,
    // A rename of the group is another change.
    name: have?.name ?? group.name,
    have: have?.members ?? [],
    want,
  } as const
  return { change, notices }
}

/**
 * If the policy forbids deletes or some entries could not be read, no member is removed. An absent user that the plan
 * does not delete (rejected, or not proved absent) keeps the memberships.
 * @param left the members of the directory after the plan's deletes
 */
function* wantedMembers(
  inputs: PlanInputs,
  group: GroupEntry,
  have: DirectoryGroup | undefined,
  left: readonly string[],
  { isUser, isLeftAlone, leaving }: MemberTests,
): Steps<{ readonly want: readonly string[]; readonly notices: readonly Notice[] }> {
  const { source, waits, rules } = inputs
  const before = have?.members ?? []
  const listed = yield* filterInSteps(group.members, (id) => isUser(id) && !isLeftAlone(id))
  const unlisted = yield* unlistedMembers(inputs, group, before)
  const look = waits?.losses?.get(group.id)
  const renamed = withinBoth(before, look?.stillMembers ?? []).filter(isUser)
  const members = yield* unionInSteps(yield* unionInSteps(listed, renamed), unlisted)
  const mayRemove = mayDelete(rules.policy) && source.unreadable === 0 && waits?.allButNew === undefined
  if (!mayRemove) return { want: yield* unionInSteps(members, before), notices: [] }
  const isKept = (id: string): boolean =>
    isUser(id) && (isLeftAlone(id) || (!source.seen.user.has(id) && !leaving.has(id)))
  const want = yield* unionInSteps(members, yield* filterInSteps(before, isKept))
  if (look?.unproved === undefined) return { want, notices: [] }
  const kept = look.unprovedMembers === undefined ? left : withinBoth(left, look.unprovedMembers)
  if (!losesMembers(kept, want, isUser)) return { want, notices: [] }
  const isPart = look.unprovedMembers !== undefined
  const params = { group: group.name, isPart, reason: look.unproved }
  return {
    want: yield* unionInSteps(want, kept),
    notices: [{ kind: 'group', id: group.id, code: 'members-kept', params }],
  }
}

/** Members that the directory has in the group but not in its list of users, which may be incomplete: they stay. */
function* unlistedMembers(
  { source, directory }: PlanInputs,
  group: GroupEntry,
  before: readonly string[],
): Steps<readonly string[]> {
  const unlisted = yield* filterInSteps(before, (id) => !directory.users.has(id) && source.seen.user.has(id))
  return unlisted.length === 0 ? unlisted : withinBoth(unlisted, group.members)
}

function withinBoth(some: readonly string[], others: readonly string[]): readonly string[] {
  if (others.length === 0) return others
  const all = new Set(others)
  return some.filter((id) => all.has(id))
}

/** Deleting a user also removes the memberships, which is no removal of the group's own. */
function losesMembers(before: readonly string[], want: readonly string[], isUser: IdTest): boolean {
  const after = new Set(want)
  return before.some((id) => isUser(id) && !after.has(id))
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index])
}

function membershipNotice(
  { id, name }: GroupEntry,
  have: readonly string[],
  want: readonly string[],
): Notice {
  const { added, removed } = membersDifference({ have, want })
  const params = { group: name, added: added.length, removed: removed.length }
  return { kind: 'group', id, code: 'membership-differs', params }
}
