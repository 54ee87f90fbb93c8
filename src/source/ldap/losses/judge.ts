import type { LossLook } from '../../../core/entries/evidence.ts'
import { amount, examples } from '../../../base/wording.ts'
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
  if (record === undefined) return unproved(`"${group.dn}" is not found again by its id`)
  if (others.length > 0) return unproved(`"${group.dn}" has the same id as ${others.length} other groups`)
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

function unproved(why: string): LossLook {
  return { stillMembers: [], unproved: why }
}

function whyUnreadable(
  { dn }: GroupRecord,
  within: readonly GroupRecord[],
  { unresolved }: SecondReading,
): string | undefined {
  for (const { dn: of, whyUnknown } of within) {
    if (whyUnknown === 'catalog') return `the global catalog does not have the members of "${of}"`
    if (whyUnknown === 'changing') return `"${of}" changed each time while its members were read again`
  }
  for (const each of within) {
    const reason = unresolved.get(dnKey(each.dn))
    if (reason !== undefined)
      return whyUnresolved(each.dn === dn ? `"${dn}"` : `"${each.dn}" within "${dn}"`, reason)
  }
  return undefined
}

function whyUnresolved(which: string, reason: Unresolved): string {
  if (reason.why === 'too-many') return `${which} lists more DNs that are no users than one run looks up`
  return `${which} lists "${reason.dn}", which the server does not show and which may be a renamed user or group`
}

/** Members that the list lost since the first read were not looked up. */
function whyMoving(
  { id, members }: LosingGroup,
  { dn }: GroupRecord,
  now: ReadonlySet<string>,
  { renamed }: SecondReading,
): string | undefined {
  if (renamed.has(id)) return `"${dn}" was renamed while it was looked at again`
  const more = members.filter((member) => !now.has(member)).length
  return more === 0 ? undefined : `"${dn}" lost ${amount(more, 'other member')} since it was read`
}

/** Whether one of the lists may have names of users, and not only DNs. */
function listsNames(lists: readonly MemberList[], { listed }: SecondReading): boolean {
  const attribute = listed.find(isMemberUid)
  if (attribute === undefined) return false
  return listed.length === 1 || lists.some(({ silent }) => !silent.includes(attribute))
}

/** Where a group lists uids, a user without a uid may be any of them. */
function whyNameless(dn: string, nameless: readonly string[]): string {
  return `"${dn}" lists uids, and ${examples(nameless)} ${nameless.length === 1 ? 'shows' : 'show'} none, so perhaps the reader may not see it`
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
): string | undefined {
  if (membersFrom !== 'member') return undefined
  for (const list of lists) {
    if (showsAll(list, second)) continue
    const which = list.dn === dn ? `"${dn}"` : `"${list.dn}" within "${dn}"`
    const attribute = demanded(list)
    if (attribute !== undefined)
      return `${which} shows no ${attribute} although the schema demands it, so the reader may not see it any more`
    const naming = gone.filter((id) => second.memberOf.get(id)?.includes(dnKey(list.dn))).length
    const where = list.silent.length < second.listed.length ? ` in ${list.silent.join(', ')}` : ''
    if (naming > 0)
      return `${which} lists nobody${where} although memberOf of ${amount(naming, 'user')} names it`
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
