import { flatten, groupsWithin, type GroupLists } from '../../core/entries/groups.ts'
import { sortedUnique } from '../../core/entries/normalize.ts'
import { examplesOf, type NoticeParams } from '../../core/notice.ts'
import type { SourceSnapshot } from '../../core/entries/snapshot.ts'
import { sortedUniqueInSteps } from '../../base/sorting.ts'
import { forEachOfSizeInSteps, type Steps } from '../../base/steps.ts'
import type { CompiledOptions, GroupPlace } from './compile.ts'
import { normalizeDn } from './dn.ts'
import type { GroupRecord } from './image.ts'
import { type GroupOfRead, listGroups } from './membership/list-groups.ts'
import type { LdapImage } from './read-image.ts'
import { GroupPlaces } from './users.ts'

/** The collector has the users, and gets the groups. Throws `source-incomplete` when none of many entries has an id. */
export function* snapshotOf(
  image: LdapImage,
  { groups }: Pick<CompiledOptions, 'groups'>,
): Steps<SourceSnapshot> {
  const { users } = image
  const lists = groups && (yield* addGroups(image, groups))
  users.endRead()
  return {
    ...users.collector.snapshot(),
    ...(groups?.membersFrom !== undefined && { lists, names: users }),
    places: { user: users, group: new GroupPlaces(image.groups) },
  }
}

function* addGroups(image: LdapImage, place: GroupPlace): Steps<GroupLists> {
  const { map, nested, membersFrom } = place
  const all = yield* listGroups(image, place)
  const groups = new Map(all.map(({ dn, listed }) => [dn, listed]))
  const records = new Map(all.map(({ record, listed }) => [listed, record]))
  const inFilter = all.slice(image.others.length)
  yield* forEachOfSizeInSteps(inFilter, membersIn, function* (group) {
    const within = groupsWithin(groups, group.listed)
    const why = whyUnknown(
      group.record.dn,
      within.flatMap((each) => records.get(each) ?? []),
    )
    const { ids, dn: from, name, faults } = group.record
    const candidate = { ids, idName: map.id, from }
    if (why !== undefined) {
      image.users.collector.addGroupWithUnknownMembers({ ...candidate, why })
      return undefined
    }
    const members = yield* sortedUniqueInSteps(yield* flatten(groups, group.listed))
    image.users.collector.addGroup({
      ...candidate,
      name,
      faults,
      members,
      ...unknownMembers(group, nested, groups),
    })
  })
  return {
    groups,
    withMembers: inFilter.filter((group) => hasListed(image, place, group)).length,
    asked: map.members,
    read: membersFrom === 'member' && nested !== 'in-chain' ? map.members : [],
    isFlat: nested === 'flatten',
    isByUsers: membersFrom === 'memberOf',
  }
}

function membersIn({ listed }: GroupOfRead): number {
  return listed.lists.reduce((sum, { users }) => sum + users.length, 0)
}

/** Whether the group has members, apart from users whose primary group it is. */
function hasListed({ users }: LdapImage, { nested }: GroupPlace, { record, dn }: GroupOfRead): boolean {
  const isListing = record.lists.some((list) => list.users.length + list.nonUsers.length > 0)
  return isListing || record.chained.length > 0 || (nested !== 'in-chain' && users.isNamed(dn))
}

function unknownMembers(
  { record: { lists } }: GroupOfRead,
  nested: GroupPlace['nested'],
  groups: GroupLists['groups'],
) {
  const isGroup = (value: string): boolean => groups.has(normalizeDn(value) ?? '')
  const nonUsers = sortedUnique(lists.flatMap((list) => list.nonUsers))
  return {
    unknownMembers: nested === 'flatten' ? nonUsers.filter((value) => !isGroup(value)) : nonUsers,
    nestedGroups: nested === 'direct' ? nonUsers.filter(isGroup).length : 0,
    sharedNames: sortedUnique(lists.flatMap(({ shared }) => shared)),
  }
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
