import { byName } from '../../entries/by-name.ts'
import { createWithin } from '../../entries/groups.ts'
import { everyInSteps, filterInSteps, forEachInSteps, type Steps } from '../../../base/steps.ts'
import { membersDifference, type SetMembers } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan, PlannedChange } from '../changes.ts'
import { deletesById, type Evidence, type Finding, isUnapproved } from './finding.ts'
import {
  absentAfter,
  decidesNoLoss,
  type Losing,
  losingFinding,
  removalsOf,
  MIN_EMPTIED,
  undecidedGroups,
} from './losing.ts'
import { createConfigurationLook, silentLists } from './member-lists.ts'
import { hiddenGroups } from './nesting.ts'

/**
 * Groups that lose all their members, or those of a group within them that became unreadable; and all groups where the
 * whole source lists no member. Groups that waited in an earlier run still wait, whatever members are back.
 */
export function* losingGroups(inputs: PlanInputs, plan: Plan, evidence: Evidence): Steps<Finding[]> {
  if (inputs.waits?.allButNew !== undefined) return []
  const losing: Losing[] = []
  yield* forEachInSteps(plan.changes.of('set-members'), (planned) => {
    if (isLosing(planned) && !evidence.approved.has(planned.fingerprint)) losing.push(planned)
  })
  const before = evidence.groupsWithMembers ?? 0
  const found =
    inputs.source.lists?.withMembers === 0 && before > 0 && losing.length > 0
      ? [membersGone(losing, before)]
      : emptiedGroups(inputs, losing, evidence)
  const deletes = yield* openDeletes(plan, evidence)
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

function isLosing(planned: PlannedChange): planned is Losing {
  return planned.removes > 0
}

function* openDeletes(plan: Plan, { approved }: Evidence): Steps<ReadonlyMap<string, string>> {
  const deletes = [...(yield* deletesById(plan, 'group'))]
  return new Map(deletes.filter(([, print]) => isUnapproved(print, approved)))
}

function membersGone(losing: readonly Losing[], before: number): Finding {
  return losingFinding({ code: 'members-gone', params: { before } }, losing)
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
    const reason = look?.unproved ?? whyOfConfiguration(change.id) ?? null
    const params = { how: 'no-members', group: change.name, had: change.have.length, reason } as const
    return [losingFinding({ code: 'group-emptied', params }, [planned, ...around(change)])]
  })
}

/** Finds the changes that remove members of a group also from groups around it. */
function createAround({ source: { lists } }: PlanInputs, losing: readonly Losing[]) {
  /** By the key of a group, the changes of the groups that have its members. */
  let byGroup: ReadonlyMap<string, readonly Losing[]> | undefined
  const within = createWithin(lists)
  return ({ id, have }: SetMembers): readonly Losing[] => {
    byGroup ??= byName(losing, ({ change }) => within(change.id).map(({ key }) => key))
    const members = new Set(have)
    const isLost = (member: string) => members.has(member)
    const others = (byGroup.get(id) ?? []).filter(({ change }) => change.id !== id)
    return others.filter(({ change }) => membersDifference(change).removed.some(isLost))
  }
}

/** Groups that waited in an earlier run, and are neither back nor decided. */
function stillWaiting(
  { directory }: PlanInputs,
  losing: readonly Losing[],
  deletes: ReadonlyMap<string, string>,
  { waitingGroups }: Evidence,
): Finding[] {
  const waited = losing.filter(({ change }) => waitingGroups.has(change.id))
  const removals = waited.reduce((sum, { removes }) => sum + removes, 0)
  const earlier = { how: 'since-earlier-run', ...removalsOf(waited, removals) } as const
  const absent = [...waitingGroups].filter((id) => deletes.has(id))
  return [
    ...(waited.length === 0 ? [] : [losingFinding({ code: 'group-emptied', params: earlier }, waited)]),
    ...absent.map((id) => {
      const params = { how: 'absent', group: directory.groups.get(id)?.name ?? id } as const
      return losingFinding({ code: 'group-emptied', params }, [], [id, deletes])
    }),
  ]
}

/** A group waits until a read shows that it loses no member, or the removals were approved. */
export function* waitingGroupsAfter(
  inputs: PlanInputs,
  plan: Plan,
  found: readonly Finding[],
  { waitingGroups }: Evidence,
): Steps<readonly string[]> {
  const holds = found.filter(({ container, waitsFor }) => container === undefined && waitsFor === 'person')
  const waiting = new Set(holds.flatMap((each) => each.holds.flatMap(({ ids }) => ids)))
  for (const id of yield* groupsOfWaiting(inputs, found)) waiting.add(id)
  const isAbsent = absentAfter(inputs, plan)
  const open = yield* undecidedGroups(inputs, plan)
  for (const id of waitingGroups) if (decidesNoLoss(inputs) || isAbsent(id) || open.has(id)) waiting.add(id)
  return [...waiting].toSorted()
}

/** Empty groups that lose no member only because the entries of an unreadable container wait. */
function* groupsOfWaiting(
  { source, directory }: PlanInputs,
  found: readonly Finding[],
): Steps<readonly string[]> {
  const holds = found.filter(({ container }) => container !== undefined).flatMap((each) => each.holds)
  const waiting = new Set<string>()
  for (const { ids } of holds.filter(({ kind }) => kind === 'user'))
    yield* forEachInSteps(ids, (id) => waiting.add(id))
  if (waiting.size === 0) return []
  const emptied = yield* filterInSteps([...source.groups.values()], ({ members }) => members.length === 0)
  const groups: string[] = []
  for (const { id } of emptied) {
    const had = directory.groups.get(id)?.members ?? []
    if (had.length < MIN_EMPTIED) continue
    if (!(yield* everyInSteps(had, (member) => !waiting.has(member)))) groups.push(id)
  }
  return groups
}
