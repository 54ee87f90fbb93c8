import type { NoticeCode, SourceSnapshot } from '../../directory/snapshot.ts'
import { amount, digits, examples } from '../../directory/wording.ts'
import type { SetMembers } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan, PlannedChange } from '../plan.ts'
import { deletesById, type Evidence, type Finding, type Held, isUnapproved } from './finding.ts'

/** A group with fewer members than these may well lose them all at once. */
const MIN_EMPTIED = 5

type Losing = PlannedChange & { readonly change: SetMembers }

/**
 * Groups that lose all their members, or those of a group within them that cannot be read any more; and all groups where
 * none in the whole source lists a member. What waited in an earlier run goes on waiting, whoever of the members is back.
 */
export function losingGroups(inputs: PlanInputs, plan: Plan, evidence: Evidence): Finding[] {
  if (inputs.waits?.allButNew !== undefined) return []
  const losing = plan.changes.filter(
    (planned): planned is Losing =>
      planned.change.op === 'set-members' &&
      planned.removes > 0 &&
      !evidence.approved.has(planned.fingerprint),
  )
  const before = evidence.groupsWithMembers ?? 0
  const found =
    inputs.source.groupsWithMembers === 0 && before > 0 && losing.length > 0
      ? [membersGone(losing, before)]
      : losing.flatMap((planned) => emptiedGroup(inputs, planned, evidence))
  const deletes = openDeletes(plan, evidence)
  const hidden = hiddenGroups(inputs, losing, deletes, evidence)
  const named = new Set([...found, ...hidden].flatMap(({ holds }) => holds.flatMap(({ ids }) => ids)))
  const others = losing.filter(({ change }) => !named.has(change.id))
  const otherDeletes = new Map([...deletes].filter(([id]) => !named.has(id)))
  return [...found, ...hidden, ...stillWaiting(inputs, others, otherDeletes, evidence)]
}

export function isEmptied({ source }: PlanInputs, group: string): boolean {
  return source.groups.get(group)?.members.length === 0
}

/** By id, the fingerprints of the deletes of groups that nobody approved. */
function openDeletes(plan: Plan, { approved }: Evidence): ReadonlyMap<string, string> {
  const deletes = [...deletesById(plan, 'group')]
  return new Map(deletes.filter(([, print]) => isUnapproved(print, approved)))
}

function membersGone(losing: readonly Losing[], before: number): Finding {
  const detail =
    `no group of the source lists a member, and ${digits(before)} did in the last good run; perhaps ` +
    'the attribute with the members is another one, or the reader may not see it any more'
  return finding('members-gone', detail, losing)
}

function emptiedGroup(inputs: PlanInputs, planned: Losing, { losses }: Evidence): Finding[] {
  const { change } = planned
  if (!isEmptied(inputs, change.id)) return []
  const look = losses.get(change.id)
  if (look?.provedEmpty || (look?.unproved === undefined && change.have.length < MIN_EMPTIED)) return []
  const why = look?.unproved ?? 'perhaps the reader may not see them any more'
  const had = amount(change.have.length, 'member')
  return [finding('group-emptied', `group "${change.name}" had ${had} and has none; ${why}`, [planned])]
}

/**
 * Groups that are absent although another group still lists them, and the losses of those that list them: most servers take a
 * group that is deleted out of all lists.
 */
function hiddenGroups(
  { source, directory }: PlanInputs,
  losing: readonly Losing[],
  deletes: ReadonlyMap<string, string>,
  { nestedGroups }: Evidence,
): Finding[] {
  const absent = [...nestedGroups].filter(
    ([dn, id]) => source.nestedGroups?.has(dn) !== true && !source.seen.group.has(id),
  )
  if (absent.length === 0) return []
  const listing = groupsListing(new Set(absent.map(([dn]) => dn)), source)
  return absent.flatMap(([dn, id]) => {
    const parents = listing.get(dn) ?? []
    const losers = losing.filter(({ change }) => parents.includes(change.id))
    const leavers = losers.reduce((sum, { removes }) => sum + removes, 0)
    const had = directory.groups.get(id)?.members.length ?? leavers
    if (parents.length === 0 || had < MIN_EMPTIED || (leavers === 0 && !deletes.has(id))) return []
    const names = examples(parents.map((parent) => source.groups.get(parent)?.name ?? parent))
    const effect = leavers === 0 ? '' : ` and would lose ${amount(leavers, 'member')}`
    const detail =
      `"${dn}" is absent, and ${names} still ${parents.length === 1 ? 'lists' : 'list'} it as a group within${effect}; ` +
      'perhaps the reader may not see it any more'
    return [finding('nested-group-absent', detail, losers, [id, deletes])]
  })
}

/** By DN, the ids of the groups that list it, or within which a group does. */
function groupsListing(
  dns: ReadonlySet<string>,
  { groups, strangersWithin }: SourceSnapshot,
): ReadonlyMap<string, readonly string[]> {
  const listing = new Map<string, string[]>()
  for (const id of groups.keys())
    for (const dn of new Set(strangersWithin?.(id)))
      if (dns.has(dn)) listing.set(dn, [...(listing.get(dn) ?? []), id])
  return listing
}

/** What waited in an earlier run, and neither is back nor decided. */
function stillWaiting(
  { directory }: PlanInputs,
  losing: readonly Losing[],
  deletes: ReadonlyMap<string, string>,
  { waitingGroups }: Evidence,
): Finding[] {
  const waited = losing.filter(({ change }) => waitingGroups.has(change.id))
  const names = examples(waited.map(({ change }) => change.name))
  const leavers = waited.reduce((sum, { removes }) => sum + removes, 0)
  const lost = `${names} would still lose ${amount(leavers, 'member')}, and an earlier run lacked members there already`
  const absent = [...waitingGroups].filter((id) => deletes.has(id))
  return [
    ...(waited.length === 0 ? [] : [finding('group-emptied', lost, waited)]),
    ...absent.map((id) => {
      const name = directory.groups.get(id)?.name ?? id
      const detail =
        `group "${name}" is absent, and an earlier run lacked it or members of it already; perhaps the reader may not ` +
        'see it any more'
      return finding('group-emptied', detail, [], [id, deletes])
    }),
  ]
}

/** Holds the losses of some groups, and the delete of one that is absent if the plan has it. */
function finding(
  guard: string,
  detail: string,
  losing: readonly Losing[],
  [absent, deletes]: readonly [id: string, deletes: ReadonlyMap<string, string>] = ['', new Map()],
): Finding {
  const members: Held = {
    kind: 'group',
    ids: losing.map(({ change }) => change.id),
    what: 'members',
    notice: detail,
  }
  const print = deletes.get(absent)
  return {
    guard,
    detail,
    changes: [...losing.map(({ fingerprint }) => fingerprint), ...(print === undefined ? [] : [print])],
    waitsFor: 'person',
    holds: [
      members,
      ...(print === undefined
        ? []
        : [{ kind: 'group', ids: [absent], what: 'delete', notice: detail } as const]),
    ],
  }
}

/** What is said of a group whose losses are not decided, whatever the read shows of it. */
const UNDECIDED: ReadonlySet<NoticeCode> = new Set([
  'members-kept',
  'rejected',
  'quarantined',
  'does-not-converge',
])

/**
 * The ids of the groups that wait for a person from now on. A group that waited goes on waiting until a read shows that it
 * loses nobody, or what it loses was approved.
 */
export function waitingGroupsAfter(
  inputs: PlanInputs,
  plan: Plan,
  found: readonly Finding[],
  { waitingGroups }: Evidence,
): readonly string[] {
  const holds = found.filter(({ container, waitsFor }) => container === undefined && waitsFor === 'person')
  const waiting = new Set(holds.flatMap((each) => each.holds.flatMap(({ ids }) => ids)))
  for (const id of groupsOfWaiting(inputs, found)) waiting.add(id)
  const isAbsent = absentAfter(inputs, plan)
  const open = new Set(
    plan.notices.filter(({ kind, code }) => kind === 'group' && UNDECIDED.has(code)).map(({ id }) => id),
  )
  const provesNothing = inputs.source.unreadable > 0 || inputs.waits?.allButNew !== undefined
  for (const id of waitingGroups) if (provesNothing || isAbsent(id) || open.has(id)) waiting.add(id)
  return [...waiting].toSorted()
}

/** The groups that have nobody any more, and lose nobody only because people of a container that cannot be read wait. */
function groupsOfWaiting({ source, directory }: PlanInputs, found: readonly Finding[]): readonly string[] {
  const holds = found.filter(({ container }) => container !== undefined).flatMap((each) => each.holds)
  const waiting = new Set(holds.filter(({ kind }) => kind === 'user').flatMap(({ ids }) => ids))
  if (waiting.size === 0) return []
  const emptied = [...source.groups.values()].filter(({ members }) => members.length === 0)
  return emptied.flatMap(({ id }) => {
    const had = directory.groups.get(id)?.members ?? []
    return had.length >= MIN_EMPTIED && had.some((member) => waiting.has(member)) ? [id] : []
  })
}

/** The nested groups that the next run is to know. One that is absent and still in the directory stays what it was. */
export function nestedGroupsAfter(
  inputs: PlanInputs,
  plan: Plan,
  { nestedGroups }: Evidence,
): ReadonlyMap<string, string> {
  const isAbsent = absentAfter(inputs, plan)
  const { source } = inputs
  const missing = [...nestedGroups].filter(([dn]) => source.nestedGroups?.has(dn) !== true)
  const absent = missing.filter(([, id]) => isAbsent(id))
  // A group outside of the filter is in no directory; as long as it is listed, it may come back.
  const outside = missing.filter(([, id]) => id === '')
  const listed = outside.length === 0 ? new Map() : groupsListing(new Set(outside.map(([dn]) => dn)), source)
  return new Map([...absent, ...outside.filter(([dn]) => listed.has(dn)), ...(source.nestedGroups ?? [])])
}

/** Whether the source does not have a group that the directory has after the plan. */
function absentAfter({ source, directory }: PlanInputs, { changes }: Plan): (id: string) => boolean {
  const deleted = new Set(
    changes.filter(({ change }) => change.op === 'delete-group').map(({ change }) => change.id),
  )
  return (id) => directory.groups.has(id) && !source.seen.group.has(id) && !deleted.has(id)
}
