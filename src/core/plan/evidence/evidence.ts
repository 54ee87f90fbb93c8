import type { NoticeOf, Wait } from '../../notice.ts'
import type { LossLook } from '../../entries/evidence.ts'
import type { Kind } from '../../entries/entry.ts'
import { forEachInSteps, type Steps } from '../../../base/steps.ts'
import { membersDifference } from '../change.ts'
import type { ChangeHead, Plan } from '../changes.ts'
import type { Breach } from '../guards.ts'
import type { DeleteWait, PlanInputs, Waits } from '../inputs.ts'
import { planInSteps } from '../plan.ts'
import { emptiedContainers } from './containers.ts'
import {
  type Evidence,
  type Finding,
  fingerprintsById,
  heldIds,
  isUnapproved,
  type MemberLists,
  type Nesting,
} from './finding.ts'
import { isEmptied, losingGroups, waitingGroupsAfter } from './groups.ts'
import { memberListsAfter } from './member-lists.ts'
import { nestingAfter } from './nesting.ts'

export type { Evidence } from './finding.ts'

/** A plan without unproved changes, and the findings that name these. */
export interface ProvedPlan {
  readonly plan: Plan
  readonly findings: readonly Breach[]
  readonly emptied: Readonly<Record<Kind, readonly string[]>>
  /** The groups whose members need approval, since this run or an earlier one. */
  readonly waitingGroups: readonly string[]
  readonly nesting: Nesting
  readonly memberLists: MemberLists
}

/** By group, the ids of the members that the plan removes. */
export function* lossesOf({ changes }: Plan): Steps<ReadonlyMap<string, readonly string[]>> {
  const losses = new Map<string, readonly string[]>()
  for (const { change, removes } of changes.of('set-members')) {
    if (change.op !== 'set-members' || removes === 0) continue
    losses.set(change.id, membersDifference(change).removed)
    yield
  }
  return losses
}

/**
 * Removes from a plan what the evidence does not prove, and reports it. Changes that depend on a removed one (an e-mail
 * that stays taken, a membership of a user who is not created) are not planned either, because the plan is made again
 * without it.
 * @param first the result of `makePlan` for the inputs
 */
export function* prove(inputs: PlanInputs, first: Plan, evidence: Evidence): Steps<ProvedPlan> {
  if (inputs.waits?.everything !== undefined) return withoutProof(first, evidence)
  const decided = yield* withLosses(inputs, first, evidence)
  const plan = decided === inputs ? first : yield* planInSteps(decided)
  const findings = [
    ...(yield* emptiedContainers(decided, plan, evidence)),
    ...(yield* losingGroups(decided, plan, evidence)),
    ...(yield* reborn(plan, evidence)),
  ]
  const proved = findings.length === 0 ? plan : yield* planInSteps(yield* without(decided, findings))
  const breaches = findings.map(({ holds: _held, ...breach }) => breach)
  const emptiedOf = (kind: Kind): readonly string[] =>
    findings.flatMap(({ code, params }) =>
      code === 'container-emptied' && params.kind === kind ? [params.container] : [],
    )
  const waitingGroups = yield* waitingGroupsAfter(inputs, proved, findings, evidence)
  return {
    plan: proved,
    findings: [...breaches, ...(yield* unprovedLosses(first, proved, findings))],
    emptied: { user: emptiedOf('user'), group: emptiedOf('group') },
    waitingGroups,
    nesting: yield* nestingAfter(inputs, proved, evidence, waitingGroups),
    memberLists: yield* memberListsAfter(inputs, proved, evidence, waitingGroups),
  }
}

/** Where everything waits, nothing needs a proof and nothing is learnt. */
function withoutProof(plan: Plan, { waitingGroups, nesting, memberLists }: Evidence): ProvedPlan {
  return {
    plan,
    findings: [],
    emptied: { user: [], group: [] },
    waitingGroups: [...waitingGroups],
    nesting,
    memberLists,
  }
}

/** Adds the rechecks of groups that would lose members; returns the same inputs if every removal is proved. */
function* withLosses(inputs: PlanInputs, first: Plan, { losses, approved }: Evidence): Steps<PlanInputs> {
  const prints = yield* fingerprintsById(first, 'set-members')
  const deciding = new Map<string, LossLook>()
  for (const [id, look] of losses) {
    // An emptied group is a finding of its own. An approved removal needs no proof.
    const isDecided = isEmptied(inputs, id) || approved.has(prints.get(id) ?? '')
    const unproved = isDecided ? undefined : look.unproved
    if (look.stillMembers.length > 0 || unproved !== undefined) deciding.set(id, { ...look, unproved })
  }
  return deciding.size === 0 ? inputs : { ...inputs, waits: { ...inputs.waits, losses: deciding } }
}

/** Inputs without the changes that the findings name and what depends on them. */
function* without(inputs: PlanInputs, findings: readonly Finding[]): Steps<PlanInputs> {
  const { waits } = inputs
  const deletes = { user: new Map<string, Wait>(), group: new Map<string, Wait>() }
  const creates = { user: new Set<string>(), group: new Set<string>() }
  const losses = new Map(waits?.losses)
  for (const held of findings.flatMap(({ holds }) => holds)) {
    yield* forEachInSteps(held.ids, (id) => {
      if (held.what === 'delete') deletes[held.kind].set(id, held.wait)
      else if (held.what === 'create') creates[held.kind].add(id)
      else losses.set(id, { stillMembers: losses.get(id)?.stillMembers ?? [], unproved: held.wait })
    })
  }
  const whyNotDeleted = (kind: Kind, id: string): DeleteWait | undefined => {
    const wait = deletes[kind].get(id)
    return wait === undefined ? waits?.whyNotDeleted?.(kind, id) : { code: 'unproved', params: { wait } }
  }
  const isReborn: Waits['isReborn'] = (kind, id) =>
    creates[kind].has(id) || waits?.isReborn?.(kind, id) === true
  return { ...inputs, waits: { ...waits, whyNotDeleted, isReborn, losses } }
}

/** A server that lags shows entries that this sync has just deleted. */
function* reborn(plan: Plan, { deletedLastDay, approved }: Evidence): Steps<Finding[]> {
  const findings: Finding[] = []
  for (const kind of ['user', 'group'] as const) {
    if (deletedLastDay[kind].size === 0) continue
    const back: ChangeHead[] = []
    yield* forEachInSteps(plan.changes.headsOf(`create-${kind}`), (head) => {
      if (deletedLastDay[kind].has(head.id) && isUnapproved(head.fingerprint, approved)) back.push(head)
    })
    if (back.length === 0) continue
    const ids = back.map(({ id }) => id)
    findings.push({
      code: 'reborn',
      params: { kind, entries: ids.length },
      changes: back.map(({ fingerprint }) => fingerprint),
      waitsFor: 'better-read',
      holds: [{ kind, ids, what: 'create' }],
    })
  }
  return findings
}

/** Groups that keep members after the recheck: the next run rechecks, or an operator approves. */
function* unprovedLosses(first: Plan, { notices }: Plan, findings: readonly Finding[]): Steps<Breach[]> {
  const losing = findings.flatMap(({ holds }) => holds.filter(({ what }) => what === 'members'))
  const named = yield* heldIds(losing)
  const kept: NoticeOf<'members-kept'>[] = []
  yield* forEachInSteps(notices, (notice) => {
    if (notice.code === 'members-kept' && !named.has(notice.id ?? '')) kept.push(notice)
  })
  const [example] = kept
  if (example === undefined) return []
  const prints = yield* fingerprintsById(first, 'set-members')
  const changes = kept.flatMap(({ id }) => prints.get(id ?? '') ?? [])
  const params = { groups: kept.length, reason: example.params.reason }
  return [{ code: 'members-unproved', params, changes, waitsFor: 'better-read' }]
}
