import type { DirectoryGroup, GroupEntry, Kind } from '../directory/entry.ts'
import { sortedUnique } from '../directory/normalize.ts'
import type { Notice } from '../directory/snapshot.ts'
import { membersDifference } from './change.ts'
import type { Difference } from './diff.ts'
import type { PlanInputs } from './inputs.ts'
import { mayDelete } from './policy.ts'
import type { Selection } from './selection.ts'

/** Whether there is an entry of this id. */
export type IdTest = (id: string) => boolean

/**
 * Compares the members of every group of the source that exists in the directory or is created by the plan.
 *
 * @param afterwards who is in the directory after the plan's other changes: only these users can be members, and only
 *   these groups can have any. Deleting a user also removes the user from all groups
 * @param leaving users who are gone from the source, and whom the plan does not delete yet: they leave their groups
 */
export function* planMembers(
  inputs: PlanInputs,
  selections: Readonly<Record<Kind, Selection>>,
  { user: isUser, group: isGroup }: Readonly<Record<Kind, IdTest>>,
  leaving: ReadonlySet<string>,
): Generator<Difference & { id: string }> {
  const { source, directory, rules } = inputs
  if (rules.membership === 'off' || !source.covers.members) return
  /** The source skipped the user, or the lists exclude it: its memberships do not change. */
  const isLeftAlone = (id: string): boolean => {
    if (!source.users.has(id)) return source.seen.user.has(id)
    if (selections.user.isAll) return false
    return selections.user.whyExcluded(id, source.users.get(id)?.from) !== undefined
  }
  for (const group of source.groups.values()) {
    if (!isGroup(group.id)) continue
    if (selections.group.whyExcluded(group.id, group.from) !== undefined) continue
    const have = directory.groups.get(group.id)
    if (have !== undefined && rules.policy === 'create-only') continue
    const left = (have?.members ?? []).filter((id) => isUser(id) || !directory.users.has(id))
    const { want, notices } = wantedMembers(inputs, group, have, { isUser, isLeftAlone, left, leaving })
    if (notices.length > 0) yield { id: group.id, notices }
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
 * If the policy forbids deletes or some entries could not be read, no member is removed. A user who is not in the
 * source but whom the plan does not delete (rejected, or not proved absent) keeps the memberships.
 */
function wantedMembers(
  inputs: PlanInputs,
  group: GroupEntry,
  have: DirectoryGroup | undefined,
  {
    isUser,
    isLeftAlone,
    left,
    leaving,
  }: {
    isUser: IdTest
    isLeftAlone: (id: string) => boolean
    left: readonly string[]
    leaving: ReadonlySet<string>
  },
): { readonly want: readonly string[]; readonly notices: readonly Notice[] } {
  const { source, waits, rules } = inputs
  const before = have?.members ?? []
  const listed = group.members.filter((id) => isUser(id) && !isLeftAlone(id))
  const look = waits?.losses?.get(group.id)
  const renamed = withinBoth(before, look?.stillMembers ?? []).filter(isUser)
  const members = [...listed, ...renamed]
  const mayRemove = mayDelete(rules.policy) && source.unreadable === 0 && waits?.allButNew === undefined
  if (!mayRemove) return { want: sortedUnique([...members, ...before]), notices: [] }
  const isKept = (id: string): boolean =>
    isUser(id) && (isLeftAlone(id) || (!source.seen.user.has(id) && !leaving.has(id)))
  const want = sortedUnique([...members, ...before.filter(isKept)])
  if (look?.unproved === undefined) return { want, notices: [] }
  const kept = look.unprovedMembers === undefined ? left : withinBoth(left, look.unprovedMembers)
  if (!losesMembers(kept, want, isUser)) return { want, notices: [] }
  const effect =
    look.unprovedMembers === undefined ? `"${group.name}" keeps its members` : `stays in "${group.name}"`
  const detail = `${look.unproved}; ${effect}`
  return {
    want: sortedUnique([...want, ...kept]),
    notices: [{ kind: 'group', id: group.id, code: 'members-kept', detail }],
  }
}

function withinBoth(some: readonly string[], others: readonly string[]): string[] {
  const all = new Set(others)
  return some.filter((id) => all.has(id))
}

/** Deleting a user takes the user out of the groups too, which is no loss of the group's own. */
function losesMembers(before: readonly string[], want: readonly string[], isUser: IdTest): boolean {
  const after = new Set(want)
  return before.some((id) => isUser(id) && !after.has(id))
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index])
}

function membershipNotice(group: GroupEntry, have: readonly string[], want: readonly string[]) {
  const { added, removed } = membersDifference({ have, want })
  const detail = `"${group.name}" lacks ${added.length} members of the source and has ${removed.length} that the source does not`
  return { kind: 'group', id: group.id, code: 'membership-differs', detail } as const
}
