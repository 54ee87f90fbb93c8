import { byName } from '../../directory/by-name.ts'
import { amount, digits, examples } from '../../directory/wording.ts'
import { membersDifference, type SetMembers } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../changes.ts'
import { deletesById, type Evidence, type Finding, isUnapproved } from './finding.ts'
import {
  absentAfter,
  decidesNoLoss,
  type Losing,
  losingFinding,
  lostText,
  MIN_EMPTIED,
  undecidedGroups,
} from './losing.ts'
import { createConfigurationLook, silentLists } from './member-lists.ts'
import { hiddenGroups } from './nesting.ts'

/**
 * Groups that lose all their members, or those of a group within them that cannot be read any more; and all groups
 * where none in the whole source lists a member. What waited in an earlier run goes on waiting, whoever of the members
 * is back.
 */
export function losingGroups(inputs: PlanInputs, plan: Plan, evidence: Evidence): Finding[] {
  if (inputs.waits?.allButNew !== undefined) return []
  const losing = [...plan.changes.of('set-members')].filter(
    (planned): planned is Losing => planned.removes > 0 && !evidence.approved.has(planned.fingerprint),
  )
  const before = evidence.groupsWithMembers ?? 0
  const found =
    inputs.source.groupsWithMembers === 0 && before > 0 && losing.length > 0
      ? [membersGone(losing, before)]
      : emptiedGroups(inputs, losing, evidence)
  const deletes = openDeletes(plan, evidence)
  const hidden = hiddenGroups(inputs, plan, losing, deletes, evidence)
  const known = idsOf([...found, ...hidden])
  const silent = silentLists(
    inputs,
    losing.filter(({ change }) => !known.has(change.id)),
    evidence,
  )
  const named = idsOf([...found, ...hidden, ...silent])
  const others = losing.filter(({ change }) => !named.has(change.id))
  const otherDeletes = new Map([...deletes].filter(([id]) => !named.has(id)))
  return [...found, ...hidden, ...silent, ...stillWaiting(inputs, others, otherDeletes, evidence)]
}

function idsOf(findings: readonly Finding[]): ReadonlySet<string> {
  return new Set(findings.flatMap(({ holds }) => holds.flatMap(({ ids }) => ids)))
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
  return losingFinding('members-gone', detail, losing)
}

function emptiedGroups(
  inputs: PlanInputs,
  losing: readonly Losing[],
  evidence: Evidence,
): readonly Finding[] {
  const whyOfConfiguration = createConfigurationLook(inputs, evidence)
  const around = createAround(inputs, losing)
  return losing.flatMap((planned) => {
    const { change } = planned
    if (!isEmptied(inputs, change.id)) return []
    const look = evidence.losses.get(change.id)
    if (look?.provedEmpty || (look?.unproved === undefined && change.have.length < MIN_EMPTIED)) return []
    const why =
      look?.unproved ?? whyOfConfiguration(change.id) ?? 'perhaps the reader may not see them any more'
    const had = amount(change.have.length, 'member')
    const detail = `group "${change.name}" had ${had} and has none; ${why}`
    return [losingFinding('group-emptied', detail, [planned, ...around(change)])]
  })
}

/** Tells the changes that take members of a group out of groups around it, too. */
function createAround({ source: { listsWithin } }: PlanInputs, losing: readonly Losing[]) {
  /** For each group, by the name that `listsWithin` has for it, the changes of the groups that have its members. */
  let byGroup: ReadonlyMap<string, readonly Losing[]> | undefined
  return ({ id, have }: SetMembers): readonly Losing[] => {
    byGroup ??= byName(losing, ({ change }) => (listsWithin?.(change.id) ?? []).map(({ key }) => key))
    const members = new Set(have)
    const isLost = (member: string) => members.has(member)
    const others = (byGroup.get(id) ?? []).filter(({ change }) => change.id !== id)
    return others.filter(({ change }) => membersDifference(change).removed.some(isLost))
  }
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
  const lost = `${names} would still lose ${lostText(waited, leavers)}, and an earlier run lacked members there already`
  const absent = [...waitingGroups].filter((id) => deletes.has(id))
  return [
    ...(waited.length === 0 ? [] : [losingFinding('group-emptied', lost, waited)]),
    ...absent.map((id) => {
      const name = directory.groups.get(id)?.name ?? id
      const detail =
        `group "${name}" is absent, and an earlier run lacked it or members of it already; perhaps the reader may not ` +
        'see it any more'
      return losingFinding('group-emptied', detail, [], [id, deletes])
    }),
  ]
}

/**
 * The ids of the groups that wait for a person from now on. A group that waited goes on waiting until a read shows that
 * it loses nobody, or what it loses was approved.
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
  const open = undecidedGroups(inputs, plan)
  for (const id of waitingGroups) if (decidesNoLoss(inputs) || isAbsent(id) || open.has(id)) waiting.add(id)
  return [...waiting].toSorted()
}

/**
 * The groups that have nobody any more, and lose nobody only because people of a container that cannot be read wait.
 */
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
