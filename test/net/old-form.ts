import type { GroupEntry, UserEntry } from '../reference/directory/entry.ts'
import type { Notice, SourceSnapshot } from '../reference/directory/snapshot.ts'
import { forEachInSteps } from '../reference/directory/steps.ts'
import type { Kind, Seen, SeenGroup } from './story.ts'

/** The snapshot of a read in the form of 3168b636: closures over groups. `users` is filled with the users. */
export function oldSnapshot(
  seen: Seen,
  users: SourceSnapshot['users'] & { add(user: UserEntry): unknown },
): SourceSnapshot {
  for (const user of seen.users) users.add({ ...user, from: `uid=${user.id},${user.container}` })
  const tree = new GroupTree(seen)
  const skipped = (kind: Kind) => seen.skipped.flatMap((each) => (each.kind === kind ? [each.id] : []))
  const isSkipped = new Set(skipped('group'))
  const inFilter = seen.covers.groups ? seen.groups.filter(({ isInFilter }) => isInFilter) : []
  const groups = inFilter.filter(({ id }) => !isSkipped.has(id)).map((group) => entryOf(tree, group))
  return {
    users,
    groups: new Map(groups.map((group) => [group.id, group])),
    covers: seen.covers,
    seen: {
      user: new Set([...users.keys(), ...skipped('user')]),
      group: new Set([...groups.map(({ id }) => id), ...skipped('group')]),
    },
    unreadable: seen.unreadable,
    notices: seen.skipped.map(({ kind, id, code }): Notice => ({ kind, id, code, detail: 'is not used' })),
    groupsWithMembers: inFilter.filter(({ lists }) => lists.some(({ users: listed }) => listed.length > 0))
      .length,
    ...(seen.isLdap && ldapEvidence(seen, tree)),
    ...(seen.server !== undefined && { server: seen.server }),
  }
}

function entryOf(tree: GroupTree, { id, name, dn }: SeenGroup): GroupEntry {
  const members = tree.within(id).flatMap(({ lists }) => lists.flatMap(({ users }) => users))
  return { id, name, members: [...new Set(members)].toSorted(), from: dn }
}

/** The groups of a read and which of them are within which. */
class GroupTree {
  readonly byDn: ReadonlyMap<string, SeenGroup>
  readonly byId: ReadonlyMap<string, SeenGroup>

  constructor({ groups }: Seen) {
    this.byDn = new Map(groups.map((group) => [group.dn, group]))
    this.byId = new Map(groups.map((group) => [group.id, group]))
  }

  /** The group and all groups within it. */
  within(id: string): readonly SeenGroup[] {
    const first = this.byId.get(id)
    const found = new Set(first === undefined ? [] : [first])
    for (const group of found) for (const child of this.children(group)) found.add(child)
    return [...found]
  }

  children({ lists }: SeenGroup): readonly SeenGroup[] {
    return lists.flatMap(({ nested }) => nested.flatMap((dn) => this.byDn.get(dn) ?? []))
  }

  /** The DNs that the group itself lists and that are no entry of the read. */
  strangers({ lists }: SeenGroup): readonly string[] {
    return lists.flatMap(({ nested, unresolved }) => [
      ...nested.filter((dn) => !this.byDn.has(dn)),
      ...unresolved,
    ])
  }
}

function ldapEvidence(seen: Seen, tree: GroupTree): Partial<SourceSnapshot> {
  const children = new Set(seen.groups.flatMap((group) => tree.children(group)))
  const memberLists = seen.groups.map(({ id, lists }) => {
    const shown = lists.filter(({ users, nested }) => users.length + nested.length > 0)
    return [id, shown.map(({ attribute }) => attribute)] as const
  })
  return {
    nestedGroups: new Map(Array.from(children, ({ dn, id, isInFilter }) => [dn, isInFilter ? id : ''])),
    nestingGroups: seen.groups.filter((group) => tree.children(group).length > 0).map(({ id }) => id),
    strangersOf: (id) => {
      const group = tree.byId.get(id)
      return group && tree.strangers(group)
    },
    strangersWithin: (id) => tree.within(id).flatMap((group) => tree.strangers(group)),
    memberAttributes: seen.memberAttributes,
    ...(seen.memberAttributes.length > 1 && {
      memberLists: new Map(memberLists.filter(([, shown]) => shown.length > 0)),
    }),
    listsWithin: (id) => tree.within(id).map((group) => ({ key: group.id, dn: group.dn })),
    eachPlace: (kind, visit) => {
      const groups = seen.groups.filter(({ isInFilter }) => isInFilter)
      const entries: readonly Pick<SeenGroup, 'id' | 'container'>[] = kind === 'user' ? seen.users : groups
      return forEachInSteps(entries, ({ id, container }) => visit(id, container))
    },
  }
}
