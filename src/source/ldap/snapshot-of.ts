import { examplesOf, type NoticeParams } from '../../core/notice.ts'
import type { SourceSnapshot } from '../../core/entries/snapshot.ts'
import { sortedUniqueInSteps } from '../../core/entries/sorting.ts'
import { forEachInSteps, forEachOfSizeInSteps, type Steps } from '../../base/steps.ts'
import { type Collector, usableId } from '../collect.ts'
import type { CompiledOptions, GroupPlace } from './compile.ts'
import { Containers } from './containers.ts'
import { dnKey } from './dn.ts'
import type { GroupRecord, LdapImage } from './image.ts'
import type { ReadImage } from './read-image.ts'
import { type Membership, membershipOf } from './membership/membership.ts'

/** The collector has the users, and gets the groups. Throws `source-incomplete` when none of many entries has an id. */
export function* snapshotOf(
  image: ReadImage,
  { groups }: Pick<CompiledOptions, 'groups'>,
): Steps<SourceSnapshot> {
  const { collector } = image.users
  const membership = groups && membershipOf(image, groups)
  if (groups !== undefined && membership !== undefined) {
    yield* forEachOfSizeInSteps(image.groups, membersIn, (group) =>
      addGroup(collector, groups, membership, group),
    )
  }
  return {
    ...collector.snapshot(),
    ...(groups?.membersFrom !== undefined && membership && evidenceOf(image, groups, membership)),
    *eachPlace(kind, visit) {
      if (kind === 'user') return yield* image.users.eachPlace(visit)
      const containers = new Containers()
      return yield* forEachInSteps(image.groups, ({ ids, dn }) => {
        for (const id of ids) visit(id, containers.of(dn))
      })
    },
  }
}

function membersIn({ users }: GroupRecord): number {
  return users.length
}

/** For the comparison with later reads, and for judging doubts. */
function evidenceOf(
  { groups, others }: LdapImage,
  { map }: GroupPlace,
  membership: Membership,
): Pick<
  SourceSnapshot,
  | 'groupsWithMembers'
  | 'nestedGroups'
  | 'nestingGroups'
  | 'strangersOf'
  | 'strangersWithin'
  | 'memberAttributes'
  | 'memberLists'
  | 'listsWithin'
> {
  const nested = [...membership.nested()].map(([dn, { ids }]) => [dn, usableId({ ids }) ?? ''] as const)
  const keyOf = (dn: string): string => {
    const group = membership.known.get(dn)
    return group === undefined ? dn : keyIn(group)
  }
  let dns: ReadonlyMap<string, string> | undefined
  let byId: ReadonlyMap<string | undefined, GroupRecord> | undefined
  const groupOf = (id: string): GroupRecord | undefined => {
    byId ??= new Map(groups.map((group) => [usableId(group), group]))
    return byId.get(id)
  }
  const lists = [...groups, ...others].flatMap((group) =>
    group.lists === undefined ? [] : [[keyIn(group), group.lists] as const],
  )
  return {
    groupsWithMembers: groups.filter(membership.hasListed).length,
    nestedGroups: new Map(nested),
    nestingGroups: membership.nesting().map(keyOf),
    strangersOf(key) {
      dns ??= new Map([...membership.known.keys()].map((dn) => [keyOf(dn), dn]))
      const dn = dns.get(key)
      return dn === undefined ? undefined : membership.strangersOf(dn)
    },
    strangersWithin(id) {
      const group = groupOf(id)
      return group === undefined ? [] : membership.strangersWithin(group)
    },
    memberAttributes: map.members,
    memberLists: lists.length === 0 ? undefined : new Map(lists),
    listsWithin(id) {
      const group = groupOf(id)
      const within = group === undefined ? [] : membership.within(group)
      return within.map((each) => ({ key: keyIn(each), dn: each.dn }))
    },
  }
}

function keyIn(group: GroupRecord): string {
  return usableId(group) ?? dnKey(group.dn)
}

function* addGroup(
  collector: Collector,
  { map }: GroupPlace,
  membership: Membership,
  group: GroupRecord,
): Steps<undefined> {
  const { ids, dn: from, name, faults } = group
  const candidate = { ids, idName: map.id, from }
  const why = whyUnknown(from, membership.within(group))
  if (why !== undefined) {
    collector.addGroupWithUnknownMembers({ ...candidate, why })
    return undefined
  }
  const members = yield* sortedUniqueInSteps(membership.membersOf(group))
  collector.addGroup({
    ...candidate,
    name,
    faults,
    members,
    unknownMembers: membership.strangersIn(group),
    nestedGroups: membership.nestedIn(group),
    sharedNames: group.shared,
  })
  return undefined
}

function whyUnknown(
  from: string,
  within: readonly GroupRecord[],
): Omit<NoticeParams['members-hidden'], 'from'> | undefined {
  const changing = within.filter(({ whyUnknown: why }) => why === 'changing')
  if (changing.length > 0) return { why: 'changing', ...whose(from, changing) }
  const hidden = within.filter(({ whyUnknown: why }) => why === 'catalog')
  return hidden.length === 0 ? undefined : { why: 'global-catalog', ...whose(from, hidden) }
}

function whose(from: string, groups: readonly GroupRecord[]) {
  const others = groups.map(({ dn }) => dn).filter((dn) => dn !== from)
  return { isOwn: others.length < groups.length, groups: examplesOf(others) }
}
