import type { DirectoryGroup, GroupEntry, Kind } from '../directory/entry.ts'
import { sortedUnique } from '../directory/normalize.ts'
import type { Difference } from './diff.ts'
import type { PlanInputs } from './inputs.ts'
import { mayDelete } from './policy.ts'
import type { Selection } from './selection.ts'

/**
 * Compares the members of every group that is on both sides or about to be created.
 *
 * @param userIds the users that the directory holds when the plan's other changes are applied: nobody else can be
 * a member, and a user whom the plan deletes leaves the groups with that
 */
export function* planMembers(
  inputs: PlanInputs,
  selections: Readonly<Record<Kind, Selection>>,
  userIds: ReadonlySet<string>,
): Generator<Difference & { id: string }> {
  const { source, directory, rules } = inputs
  if (rules.membership === 'off' || !source.covers.members) return
  /** Whose memberships stay as they are: the source has the user, and it cannot or may not be written. */
  const isLeftAlone = (id: string): boolean => {
    const user = source.users.get(id)
    if (user === undefined) return source.seen.user.has(id)
    return selections.user.whyExcluded(id, user.from) !== undefined
  }
  for (const group of source.groups.values()) {
    if (selections.group.whyExcluded(group.id, group.from) !== undefined) continue
    const have = directory.groups.get(group.id)
    if (have !== undefined && rules.policy === 'create-only') continue
    const want = wantedMembers(inputs, group, have, { userIds, isLeftAlone })
    const left = (have?.members ?? []).filter((id) => userIds.has(id) || !directory.users.has(id))
    if (isSame(left, want)) continue
    if (rules.membership === 'report') {
      yield { id: group.id, notices: [membershipNotice(group, left, want)] }
    } else {
      yield {
        id: group.id,
        change: { op: 'set-members', id: group.id, name: group.name, have: have?.members ?? [], want },
      }
    }
  }
}

/**
 * Without the right to delete, or when some entries could not be read, nobody is taken out of a group. A user whom the
 * source lacks and the plan keeps all the same (rejected, not proved absent) keeps its memberships too.
 */
function wantedMembers(
  inputs: PlanInputs,
  group: GroupEntry,
  have: DirectoryGroup | undefined,
  { userIds, isLeftAlone }: { userIds: ReadonlySet<string>; isLeftAlone: (id: string) => boolean },
): readonly string[] {
  const members = group.members.filter((id) => userIds.has(id) && !isLeftAlone(id))
  const before = have?.members ?? []
  const mayRemove = mayDelete(inputs.rules.policy) && inputs.source.unreadable === 0
  const isKept = (id: string): boolean =>
    userIds.has(id) && (!inputs.source.seen.user.has(id) || isLeftAlone(id))
  const kept = mayRemove ? before.filter(isKept) : before
  return sortedUnique([...members, ...kept])
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index])
}

function membershipNotice(group: GroupEntry, have: readonly string[], want: readonly string[]) {
  const before = new Set(have)
  const after = new Set(want)
  const added = want.filter((id) => !before.has(id)).length
  const removed = have.filter((id) => !after.has(id)).length
  const detail = `"${group.name}" lacks ${added} members of the source and has ${removed} that the source does not`
  return { kind: 'group', id: group.id, code: 'membership-differs', detail } as const
}
