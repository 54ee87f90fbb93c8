import type { GroupEntry, UserEntry } from '../reference/directory/entry.ts'
import type { Notice, SourceSnapshot } from '../reference/directory/snapshot.ts'
import type { LossLook } from '../reference/directory/evidence.ts'
import type { Source } from '../reference/source/source.ts'
import { SourceUsers } from '../reference/directory/users.ts'
import { forEachInSteps } from '../reference/directory/steps.ts'
import {
  groupsByDn,
  isUnproved,
  isNameless,
  isShown,
  keyOf,
  listsNames,
  showsAllLists,
  sightingOf,
} from './recheck.ts'
import type { Kind, Seen, SeenGroup, Step } from './story.ts'

/** The source in the form of 3168b636, which judges removals of members itself. */
export function oldSource(step: Step): Source {
  const { idsAt, seen } = step
  return {
    read: async (_signal, { table }) => oldSnapshot(seen, new SourceUsers(table)),
    lookAgain: async (kind, ids) => new Map(ids.map((id) => [id, sightingOf(step, kind, id)])),
    ...(seen.isLdap && {
      lookAtLosses: async (_snapshot, losses) => lookAtLosses(step, losses),
      idsAt: async (dns) => new Map(dns.flatMap((dn) => (idsAt.has(dn) ? [[dn, idsAt.get(dn)!]] : []))),
    }),
  }
}

function lookAtLosses(
  step: Step,
  losses: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, LossLook> {
  const tree = new GroupTree(step.seen)
  return new Map([...losses].map(([group, lost]) => [group, lookAtLoss(step, tree.within(group), lost)]))
}

/** @param within the group and all groups within it */
function lookAtLoss(step: Step, within: readonly SeenGroup[], lost: readonly string[]): LossLook {
  const { losses } = step
  const stillMembers = lost.filter((user) => losses.renamed.has(user))
  const gone = lost.filter((user) => !losses.renamed.has(user))
  if (gone.length === 0) return { stillMembers }
  if (within.some((group) => isUnproved(losses, group)))
    return { stillMembers, unproved: 'its list is not proved' }
  const isOfNames = within.some((group) => listsNames(losses, group))
  const nameless = gone.filter((user) => isOfNames && isNameless(step, user))
  if (nameless.length > 0) return { stillMembers, unproved: 'has no name', unprovedMembers: nameless }
  const hasMembers = losses.renamed.size > 0 || within.some(hasUsers)
  if (hasMembers) return { stillMembers }
  return { stillMembers, provedEmpty: within.every((group) => showsAllLists(step, group)) }
}

function hasUsers({ lists }: SeenGroup): boolean {
  return lists.some(({ users }) => users.length > 0)
}

/** The snapshot in the form of 3168b636: closures over groups. `users` is filled with the users. */
function oldSnapshot(
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
  readonly byKey: ReadonlyMap<string, SeenGroup>

  constructor(seen: Seen) {
    this.byDn = groupsByDn(seen)
    this.byId = new Map(seen.groups.map((group) => [group.id, group]))
    this.byKey = new Map(seen.groups.map((group) => [keyOf(group), group]))
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
  const memberLists = seen.groups.map((group) => {
    return [keyOf(group), group.lists.filter(isShown).map(({ attribute }) => attribute)] as const
  })
  return {
    groupsWithMembers: seen.groups.filter((group) => group.isInFilter && hasUsers(group)).length,
    nestedGroups: new Map(Array.from(children, ({ dn, id, isInFilter }) => [dn, isInFilter ? id : ''])),
    nestingGroups: seen.groups.filter((group) => tree.children(group).length > 0).map(keyOf),
    strangersOf: (key) => {
      const group = tree.byKey.get(key)
      return group && tree.strangers(group)
    },
    strangersWithin: (id) => tree.within(id).flatMap((group) => tree.strangers(group)),
    memberAttributes: seen.memberAttributes,
    ...(seen.memberAttributes.length > 1 && {
      memberLists: new Map(memberLists.filter(([, shown]) => shown.length > 0)),
    }),
    listsWithin: (id) => tree.within(id).map((group) => ({ key: keyOf(group), dn: group.dn })),
    eachPlace: (kind, visit) => {
      const groups = seen.groups.filter(({ isInFilter }) => isInFilter)
      const entries: readonly Pick<SeenGroup, 'id' | 'container'>[] = kind === 'user' ? seen.users : groups
      return forEachInSteps(entries, ({ id, container }) => visit(id, container))
    },
  }
}
