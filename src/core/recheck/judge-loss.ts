import type { EntryNow, GroupNow, LossLook } from '../entries/recheck.ts'
import { flatten, groupsWithin } from '../entries/groups.ts'
import { examplesOf, type UnconfirmedRemoval } from '../notice.ts'
import { filterInSteps, forEachInSteps, type Steps } from '../../base/steps.ts'
import type { GroupEntryNow, GroupsNow, MembersNow } from './members-now.ts'

interface LosingGroup {
  readonly id: string
  readonly lost: readonly string[]
  /** All with its id now. */
  readonly entries: readonly EntryNow[]
  readonly wasRenamed: boolean
}

export function* judgeLoss(
  { id, lost, entries, wasRenamed }: LosingGroup,
  now: MembersNow,
  { all, entries: reread }: GroupsNow,
): Steps<LossLook> {
  const before = now.before.groups.get(id)
  const [entry, ...others] = entries
  const group = entry && all.get(entry.normalDn)
  const named = { group: before?.from ?? id }
  if (entry === undefined || group === undefined) return unproved({ code: 'not-found', params: named })
  if (others.length > 0) return unproved({ code: 'id-shared', params: { ...named, others: others.length } })
  const { dn } = entry
  const members = new Set<string>()
  yield* forEachInSteps(yield* flatten(all, group), (user) => members.add(user))
  const stillMembers = lost.filter((user) => members.has(user))
  const gone = lost.filter((user) => !members.has(user))
  if (gone.length === 0) return { stillMembers }
  const within = groupsWithin(all, group).flatMap((each) => reread.get(each) ?? [])
  const why =
    whyUnreadable(dn, within, gone, now) ??
    (wasRenamed ? ({ code: 'renamed', params: { group: dn } } as const) : undefined) ??
    (yield* whyMoving(dn, before?.members ?? [], members)) ??
    whyHidden(dn, within, gone, now)
  if (why !== undefined) return { stillMembers, unproved: why }
  // Where a group lists uids, a user without a uid may be any of them.
  const nameless = listsNames(within) ? gone.filter((user) => now.isNameless(user)) : []
  if (nameless.length > 0) {
    const params = { group: dn, users: examplesOf(nameless) }
    return { stillMembers, unproved: { code: 'no-uid', params }, unprovedMembers: nameless }
  }
  return members.size > 0 ? { stillMembers } : { stillMembers, provedEmpty: isProvedEmpty(within, now) }
}

function unproved(why: UnconfirmedRemoval): LossLook {
  return { stillMembers: [], unproved: why }
}

function whyUnreadable(
  dn: string,
  within: readonly GroupEntryNow[],
  gone: readonly string[],
  now: MembersNow,
): UnconfirmedRemoval | undefined {
  for (const { dn: list, group } of within) {
    if (group.whyUnknown === 'catalog') return { code: 'global-catalog', params: { list } }
    if (group.whyUnknown === 'changing') return { code: 'changing', params: { list } }
  }
  for (const each of within) {
    const which = { group: dn, list: each.dn }
    const reason = now.whyUnresolved(each, gone)
    if (reason === 'too-many') return { code: 'too-many-unresolved', params: which }
    if (reason !== undefined) return { code: 'unresolved', params: { ...which, member: reason.dn } }
  }
  return undefined
}

/** Members that the list lost since the first read were not looked up. */
function* whyMoving(
  group: string,
  before: readonly string[],
  now: ReadonlySet<string>,
): Steps<UnconfirmedRemoval | undefined> {
  const { length: members } = yield* filterInSteps(before, (member) => !now.has(member))
  return members === 0 ? undefined : { code: 'more-removed', params: { group, members } }
}

/** Whether one of the lists may have names of users, and not only DNs. */
function listsNames(within: readonly GroupEntryNow[]): boolean {
  return within.some(({ group: { lists } }) =>
    lists.some(({ isOfNames, isShown }) => isOfNames && (isShown || lists.length === 1)),
  )
}

/** Why the list of the group, or of one within it, may be hidden: something else shows members. */
function whyHidden(
  dn: string,
  within: readonly GroupEntryNow[],
  gone: readonly string[],
  now: MembersNow,
): UnconfirmedRemoval | undefined {
  if (now.before.lists.isByUsers) return undefined
  for (const { dn: list, normalDn, group } of within) {
    if (showsAll(group)) continue
    const which = { group: dn, list }
    const attribute = group.demanded
    if (attribute !== undefined) return { code: 'attribute-required', params: { ...which, attribute } }
    const naming = gone.filter((user) => now.isNaming(user, normalDn)).length
    const silent = group.lists.filter(({ isShown }) => !isShown).map((each) => each.attribute)
    const attributes = silent.length < group.lists.length ? silent : []
    if (naming > 0) return { code: 'member-of', params: { ...which, attributes, users: naming } }
  }
  return undefined
}

export function showsAll({ lists }: GroupNow): boolean {
  return lists.length > 0 && lists.every(({ isShown }) => isShown)
}

/**
 * Every list is there and names no user, or the users name their groups, and none of these is among them. Where the
 * users alone define the members, that is no second witness; and they do not tell which groups list their names.
 */
function isProvedEmpty(within: readonly GroupEntryNow[], now: MembersNow): boolean {
  if (now.before.lists.isByUsers) return false
  return within.every(({ group }) => {
    const mayNameUsers = group.lists.some(({ isOfNames, isShown }) => isOfNames && !isShown)
    return showsAll(group) || (now.isMemberOfShown && !mayNameUsers)
  })
}
