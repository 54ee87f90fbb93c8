import type { LossLook } from '../../../core/entries/evidence.ts'
import { examplesOf, type UnconfirmedRemoval } from '../../../core/notice.ts'
import type { GroupPlace } from '../compile.ts'
import { dnKey } from '../dn.ts'
import type { GroupRecord } from '../image.ts'
import { isMemberUid } from '../membership/members.ts'
import type { MemberList, Unresolved } from './second-look.ts'
import { showsAll, type SecondReading } from './read-again.ts'

export interface LosingGroup {
  readonly id: string
  /** Its DN in the first read. */
  readonly dn: string
  readonly lost: readonly string[]
  /** Its members in the first read. */
  readonly members: readonly string[]
}

export interface ServerFacts {
  /** The attribute of members that the schema requires of a list and the list does not show. */
  readonly demanded: (list: MemberList) => string | undefined
  /** Whether the bind account can read `memberOf`. */
  readonly memberOfShown: boolean
}

export function judge(
  group: LosingGroup,
  place: GroupPlace,
  second: SecondReading,
  facts: ServerFacts,
): LossLook {
  const [record, ...others] = second.groups.get(group.id) ?? []
  if (record === undefined) return unproved({ code: 'not-found', params: { group: group.dn } })
  if (others.length > 0)
    return unproved({ code: 'id-shared', params: { group: group.dn, others: others.length } })
  const members = new Set(second.membership.membersOf(record))
  const stillMembers = group.lost.filter((id) => members.has(id))
  const gone = group.lost.filter((id) => !members.has(id))
  if (gone.length === 0) return { stillMembers }
  const within = second.membership.within(record)
  const why =
    whyUnreadable(record, within, second) ??
    whyMoving(group, record, members, second) ??
    whyHidden(record.dn, listsOf(within, second), gone, place, second, facts)
  if (why !== undefined) return { stillMembers, unproved: why }
  const nameless = listsNames(listsOf(within, second), second)
    ? gone.filter((id) => second.nameless.has(id))
    : []
  if (nameless.length > 0)
    return { stillMembers, unproved: whyNameless(record.dn, nameless), unprovedMembers: nameless }
  return members.size > 0
    ? { stillMembers }
    : { stillMembers, provedEmpty: isProvedEmpty(within, place, second, facts) }
}

function unproved(why: UnconfirmedRemoval): LossLook {
  return { stillMembers: [], unproved: why }
}

function whyUnreadable(
  { dn }: GroupRecord,
  within: readonly GroupRecord[],
  { unresolved }: SecondReading,
): UnconfirmedRemoval | undefined {
  for (const { dn: list, whyUnknown } of within) {
    if (whyUnknown === 'catalog') return { code: 'global-catalog', params: { list } }
    if (whyUnknown === 'changing') return { code: 'changing', params: { list } }
  }
  for (const each of within) {
    const reason = unresolved.get(dnKey(each.dn))
    if (reason !== undefined) return whyUnresolved({ group: dn, list: each.dn }, reason)
  }
  return undefined
}

function whyUnresolved(
  which: { readonly group: string; readonly list: string },
  reason: Unresolved,
): UnconfirmedRemoval {
  if (reason.why === 'too-many') return { code: 'too-many-unresolved', params: which }
  return { code: 'unresolved', params: { ...which, member: reason.dn } }
}

/** Members that the list lost since the first read were not looked up. */
function whyMoving(
  { id, members }: LosingGroup,
  { dn }: GroupRecord,
  now: ReadonlySet<string>,
  { renamed }: SecondReading,
): UnconfirmedRemoval | undefined {
  if (renamed.has(id)) return { code: 'renamed', params: { group: dn } }
  const more = members.filter((member) => !now.has(member)).length
  return more === 0 ? undefined : { code: 'more-removed', params: { group: dn, members: more } }
}

/** Whether one of the lists may have names of users, and not only DNs. */
function listsNames(lists: readonly MemberList[], { listed }: SecondReading): boolean {
  const attribute = listed.find(isMemberUid)
  if (attribute === undefined) return false
  return listed.length === 1 || lists.some(({ silent }) => !silent.includes(attribute))
}

/** Where a group lists uids, a user without a uid may be any of them. */
function whyNameless(group: string, nameless: readonly string[]): UnconfirmedRemoval {
  return { code: 'no-uid', params: { group, users: examplesOf(nameless) } }
}

function listsOf(within: readonly GroupRecord[], { lists }: SecondReading): readonly MemberList[] {
  return within.flatMap(({ dn }) => lists.get(dnKey(dn)) ?? [])
}

/** Why the list of the group, or of one within it, may be hidden: something else shows members. */
function whyHidden(
  dn: string,
  lists: readonly MemberList[],
  gone: readonly string[],
  { membersFrom }: GroupPlace,
  second: SecondReading,
  { demanded }: ServerFacts,
): UnconfirmedRemoval | undefined {
  if (membersFrom !== 'member') return undefined
  for (const list of lists) {
    if (showsAll(list, second)) continue
    const which = { group: dn, list: list.dn }
    const attribute = demanded(list)
    if (attribute !== undefined) return { code: 'attribute-required', params: { ...which, attribute } }
    const naming = gone.filter((id) => second.memberOf.get(id)?.includes(dnKey(list.dn))).length
    const attributes = list.silent.length < second.listed.length ? list.silent : []
    if (naming > 0) return { code: 'member-of', params: { ...which, attributes, users: naming } }
  }
  return undefined
}

/**
 * Every list is there and names no user, or the users name their groups, and none of these is among them. Where the
 * users alone define the members, that is no second witness; and they do not tell which groups list their names.
 */
function isProvedEmpty(
  within: readonly GroupRecord[],
  { membersFrom }: GroupPlace,
  second: SecondReading,
  { memberOfShown }: ServerFacts,
): boolean {
  if (membersFrom === 'memberOf') return false
  if (second.listed.length === 0) return memberOfShown
  return listsOf(within, second).every(
    (list) => showsAll(list, second) || (memberOfShown && !list.silent.some(isMemberUid)),
  )
}
