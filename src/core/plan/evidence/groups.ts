import { byName } from '../../entries/by-name.ts'
import { createWithin } from '../../entries/groups.ts'
import { sortedUniqueInSteps } from '../../entries/sorting.ts'
import {
  everyInSteps,
  filterInSteps,
  forEachInSteps,
  forEachOfSizeInSteps,
  type Steps,
} from '../../../base/steps.ts'
import { membersDifference, type SetMembers } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan, PlannedChange } from '../changes.ts'
import { deletesById, type Evidence, type Finding, heldIds, isUnapproved } from './finding.ts'
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
      : yield* emptiedGroups(inputs, losing, evidence)
  const deletes = yield* openDeletes(plan, evidence)
  const hidden = yield* hiddenGroups(inputs, plan, losing, deletes, evidence)
  const known = yield* idsOf([...found, ...hidden])
  const unnamed = yield* filterInSteps(losing, ({ change }) => !known.has(change.id))
  const silent = yield* silentLists(inputs, unnamed, evidence)
  const named = yield* idsOf([...found, ...hidden, ...silent])
  const others = yield* filterInSteps(unnamed, ({ change }) => !named.has(change.id))
  const otherDeletes = new Map(yield* filterInSteps([...deletes], ([id]) => !named.has(id)))
  return [...found, ...hidden, ...silent, ...(yield* stillWaiting(inputs, others, otherDeletes, evidence))]
}

function idsOf(findings: readonly Finding[]): Steps<Set<string>> {
  return heldIds(findings.flatMap(({ holds }) => holds))
}

export function isEmptied({ source }: PlanInputs, group: string): boolean {
  return source.groups.get(group)?.members.length === 0
}

function isLosing(planned: PlannedChange): planned is Losing {
  return planned.removes > 0
}

function* openDeletes(plan: Plan, { approved }: Evidence): Steps<ReadonlyMap<string, string>> {
  const deletes = [...(yield* deletesById(plan, 'group'))]
  return new Map(yield* filterInSteps(deletes, ([, print]) => isUnapproved(print, approved)))
}

function membersGone(losing: readonly Losing[], before: number): Finding {
  return losingFinding({ code: 'members-gone', params: { before } }, losing)
}

function* emptiedGroups(
  inputs: PlanInputs,
  losing: readonly Losing[],
  evidence: Evidence,
): Steps<readonly Finding[]> {
  const emptied = yield* filterInSteps(losing, ({ change }) => {
    if (!isEmptied(inputs, change.id)) return false
    const look = evidence.losses.get(change.id)
    return !look?.provedEmpty && (look?.unproved !== undefined || change.have.length >= MIN_EMPTIED)
  })
  if (emptied.length === 0) return []
  const whyOfConfiguration = yield* createConfigurationLook(inputs, evidence)
  const around = yield* createAround(inputs, losing)
  const found: Finding[] = []
  yield* forEachOfSizeInSteps(emptied, sizeOf, function* (planned) {
    const { change } = planned
    const reason = evidence.losses.get(change.id)?.unproved ?? whyOfConfiguration(change.id) ?? null
    const params = { how: 'no-members', group: change.name, had: change.have.length, reason } as const
    const losers = [planned, ...(yield* around(change))]
    found.push(losingFinding({ code: 'group-emptied', params }, losers))
  })
  return found
}

function sizeOf({ change }: Losing): number {
  return change.have.length
}

/** Finds the changes that remove members of a group also from groups around it. */
function* createAround(
  { source: { lists } }: PlanInputs,
  losing: readonly Losing[],
): Steps<(group: SetMembers) => Steps<readonly Losing[]>> {
  const within = yield* createWithin(lists)
  /** By the key of a group, the changes of the groups that have its members. */
  const byGroup = yield* byName(losing, ({ change }) => within(change.id).map(({ key }) => key))
  const removedBy = new Map<Losing, ReadonlySet<string>>()
  return function* ({ id, have }) {
    const around: Losing[] = []
    for (const other of byGroup.get(id) ?? []) {
      yield
      const removed = removedBy.get(other) ?? new Set(membersDifference(other.change).removed)
      removedBy.set(other, removed)
      if (other.change.id !== id && have.some((member) => removed.has(member))) around.push(other)
    }
    return around
  }
}

/** Groups that waited in an earlier run, and are neither back nor decided. */
function* stillWaiting(
  { directory }: PlanInputs,
  losing: readonly Losing[],
  deletes: ReadonlyMap<string, string>,
  { waitingGroups }: Evidence,
): Steps<Finding[]> {
  const waited = yield* filterInSteps(losing, ({ change }) => waitingGroups.has(change.id))
  const removals = waited.reduce((sum, { removes }) => sum + removes, 0)
  const earlier = { how: 'since-earlier-run', ...removalsOf(waited, removals) } as const
  const absent = yield* filterInSteps([...waitingGroups], (id) => deletes.has(id))
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
  const holds = found.filter(({ code, waitsFor }) => code !== 'container-emptied' && waitsFor === 'person')
  const waiting = yield* idsOf(holds)
  for (const id of yield* groupsOfWaiting(inputs, found)) waiting.add(id)
  const isAbsent = absentAfter(inputs, plan)
  const open = yield* undecidedGroups(inputs, plan)
  yield* forEachInSteps(waitingGroups, (id) => {
    if (decidesNoLoss(inputs) || isAbsent(id) || open.has(id)) waiting.add(id)
  })
  return yield* sortedUniqueInSteps(waiting)
}

/** Empty groups that lose no member only because the entries of an unreadable container wait. */
function* groupsOfWaiting(
  { source, directory }: PlanInputs,
  found: readonly Finding[],
): Steps<readonly string[]> {
  const holds = found.filter(({ code }) => code === 'container-emptied').flatMap((each) => each.holds)
  const waiting = yield* heldIds(holds.filter(({ kind }) => kind === 'user'))
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
