import type { SourceSnapshot } from '../../directory/snapshot.ts'
import { Collector, usableId } from '../collect.ts'
import { examples } from '../../directory/wording.ts'
import type { CompiledOptions, GroupPlace } from './compile.ts'
import { dnKey } from './dn.ts'
import type { GroupRecord, LdapImage, UserRecord } from './image.ts'
import { type Membership, membershipOf } from './membership/membership.ts'

/**
 * The snapshot of what a server said. It reads nothing: the same image and options give the same snapshot. Throws
 * `source-incomplete` when not one of many entries has an id.
 */
export function snapshotOf(
  image: LdapImage,
  { users, groups }: Pick<CompiledOptions, 'users' | 'groups'>,
): SourceSnapshot {
  const covers = { groups: groups !== undefined, members: groups?.membersFrom !== undefined }
  const collector = new Collector(covers)
  for (const user of image.users) addUser(collector, users.map.id, user)
  const membership = groups && membershipOf(image, groups)
  for (const group of image.groups) if (membership) addGroup(collector, groups, membership, group)
  return {
    ...collector.snapshot(),
    ...(groups && membership && covers.members && evidenceOf(image, groups, membership)),
    eachPlace(kind, visit) {
      const containerOf = createContainers()
      for (const { ids, dn } of kind === 'user' ? image.users : image.groups) {
        const container = containerOf(dn)
        for (const id of ids) visit(id, container)
      }
    },
  }
}

/** What a later read is compared with, or a doubt is judged by. */
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

/** What the evidence calls a group: its id, or its DN in the normal form. */
function keyIn(group: GroupRecord): string {
  return usableId(group) ?? dnKey(group.dn)
}

/** Tells the normal DN of an entry's parent. Thousands of entries have one parent, which is normalized once. */
function createContainers(): (dn: string) => string {
  const known = new Map<string, string>()
  let last = { text: '', container: '' }
  return (dn) => {
    const comma = dn.indexOf(',')
    // The first comma may belong to the value of the first part.
    if (comma < 0 || isBefore(dn.indexOf('\\'), comma) || isBefore(dn.indexOf('"'), comma))
      return parentOf(dnKey(dn))
    if (dn.length - comma - 1 === last.text.length && dn.endsWith(last.text)) return last.container
    const text = dn.slice(comma + 1)
    let container = known.get(text)
    if (container === undefined) known.set(text, (container = dnKey(text)))
    last = { text, container }
    return container
  }
}

function isBefore(index: number, other: number): boolean {
  return index >= 0 && index < other
}

function parentOf(normal: string): string {
  const comma = normal.indexOf(',')
  return comma < 0 ? '' : normal.slice(comma + 1)
}

function addUser(collector: Collector, idName: string, user: UserRecord): void {
  const { ids, dn: from, disabled, email, name, employeeId, faults } = user
  if (disabled === undefined) collector.addUser({ ids, idName, from, email, name, employeeId, faults })
  else collector.addDisabled({ ids, idName, from, gone: disabled === 'delete' })
}

function addGroup(
  collector: Collector,
  { map }: GroupPlace,
  membership: Membership,
  group: GroupRecord,
): void {
  const { ids, dn: from, name, faults } = group
  const candidate = { ids, idName: map.id, from }
  const why = whyUnknown(from, membership.within(group))
  if (why !== undefined) {
    collector.addGroupWithUnknownMembers({ ...candidate, why })
    return
  }
  const members = membership.membersOf(group)
  collector.addGroup({
    ...candidate,
    name,
    faults,
    members,
    unknownMembers: membership.strangersIn(group),
    nestedGroups: membership.nestedIn(group),
    sharedNames: group.shared,
  })
}

function whyUnknown(from: string, within: readonly GroupRecord[]): string | undefined {
  const changing = within.filter(({ whyUnknown: why }) => why === 'changing')
  if (changing.length > 0) {
    return `it could not be read at one moment, because ${whose(from, changing)} changed each time meanwhile`
  }
  const hidden = within.filter(({ whyUnknown: why }) => why === 'catalog')
  if (hidden.length === 0) return undefined
  return `the global catalog does not have ${whose(from, hidden)}, but only those of universal groups and of its own domain`
}

function whose(from: string, groups: readonly GroupRecord[]): string {
  const others = groups.map(({ dn }) => dn).filter((dn) => dn !== from)
  return others.length < groups.length ? 'its members' : `the members of ${examples(others)} within it`
}
