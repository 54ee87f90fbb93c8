import type { LossLook } from '../../directory/evidence.ts'
import type { Kind } from '../../directory/entry.ts'
import { forEachInSteps, type Steps } from '../../directory/steps.ts'
import { amount } from '../../directory/wording.ts'
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
  isUnapproved,
  type MemberLists,
  type Nesting,
} from './finding.ts'
import { isEmptied, losingGroups, waitingGroupsAfter } from './groups.ts'
import { memberListsAfter } from './member-lists.ts'
import { nestingAfter } from './nesting.ts'

export type { Evidence } from './finding.ts'

/** A plan without what the evidence does not prove, and the objections that name what waits. */
export interface ProvedPlan {
  readonly plan: Plan
  readonly findings: readonly Breach[]
  /** The containers in which nobody is left. */
  readonly emptied: Readonly<Record<Kind, readonly string[]>>
  /** The ids of the groups whose members wait for a person, since this run or an earlier one. */
  readonly waitingGroups: readonly string[]
  /** What the next run is to know of nested groups. */
  readonly nesting: Nesting
  /** What the next run is to know of the attributes that list members. */
  readonly memberLists: MemberLists
}

/** For each group that the plan takes members from, the ids of those members. */
export function lossesOf({ changes }: Plan): ReadonlyMap<string, readonly string[]> {
  const losses = new Map<string, readonly string[]>()
  for (const { change, removes } of changes.of('set-members')) {
    if (change.op !== 'set-members' || removes === 0) continue
    losses.set(change.id, membersDifference(change).removed)
  }
  return losses
}

/**
 * Takes out of a plan what the evidence does not prove, and says what waits and why. What depends on a change that was
 * taken out (an e-mail that stays taken, a membership of somebody who is not created) is not planned either, because
 * the plan is made again without it.
 *
 * @param first what `makePlan` made of the inputs
 */
export function* prove(inputs: PlanInputs, first: Plan, evidence: Evidence): Steps<ProvedPlan> {
  if (inputs.waits?.everything !== undefined) return withoutProof(first, evidence)
  const decided = withLosses(inputs, first, evidence)
  const plan = decided === inputs ? first : yield* planInSteps(decided)
  const findings = [
    ...(yield* emptiedContainers(decided, plan, evidence)),
    ...losingGroups(decided, plan, evidence),
    ...(yield* reborn(plan, evidence)),
  ]
  const proved = findings.length === 0 ? plan : yield* planInSteps(without(decided, findings))
  const breaches = findings.map(({ guard, detail, changes, waitsFor }) => ({
    guard,
    detail,
    changes,
    waitsFor,
  }))
  const emptiedOf = (kind: Kind): readonly string[] =>
    findings.filter(({ holds }) => holds[0]?.kind === kind).flatMap(({ container }) => container ?? [])
  const waitingGroups = waitingGroupsAfter(inputs, proved, findings, evidence)
  return {
    plan: proved,
    findings: [...breaches, ...unprovedLosses(first, proved, findings)],
    emptied: { user: emptiedOf('user'), group: emptiedOf('group') },
    waitingGroups,
    nesting: nestingAfter(inputs, proved, evidence, waitingGroups),
    memberLists: memberListsAfter(inputs, proved, evidence, waitingGroups),
  }
}

/** Where everything waits there is nothing to prove, and nothing is learnt. */
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

/**
 * The inputs with what the second look says of groups that would lose members; the same inputs if it proved every loss.
 */
function withLosses(inputs: PlanInputs, first: Plan, { losses, approved }: Evidence): PlanInputs {
  const prints = fingerprintsById(first, 'set-members')
  const deciding = new Map<string, LossLook>()
  for (const [id, look] of losses) {
    // A group without any member is a finding of its own. Whoever approves a loss does not ask for proof.
    const isDecided = isEmptied(inputs, id) || approved.has(prints.get(id) ?? '')
    const unproved = isDecided ? undefined : look.unproved
    if (look.stillMembers.length > 0 || unproved !== undefined) deciding.set(id, { ...look, unproved })
  }
  return deciding.size === 0 ? inputs : { ...inputs, waits: { ...inputs.waits, losses: deciding } }
}

/** The inputs of a plan without the changes that the findings name, and without what depends on them. */
function without(inputs: PlanInputs, findings: readonly Finding[]): PlanInputs {
  const { waits } = inputs
  const deletes = { user: new Map<string, string>(), group: new Map<string, string>() }
  const creates = { user: new Map<string, string>(), group: new Map<string, string>() }
  const losses = new Map(waits?.losses)
  for (const { kind, ids, what, notice: detail } of findings.flatMap(({ holds }) => holds)) {
    for (const id of ids) {
      if (what === 'delete') deletes[kind].set(id, detail)
      else if (what === 'create') creates[kind].set(id, detail)
      else losses.set(id, { stillMembers: losses.get(id)?.stillMembers ?? [], unproved: detail })
    }
  }
  const whyNotDeleted = (kind: Kind, id: string): DeleteWait | undefined => {
    const detail = deletes[kind].get(id)
    return detail === undefined ? waits?.whyNotDeleted?.(kind, id) : { code: 'unproved', detail }
  }
  const whyNotCreated: Waits['whyNotCreated'] = (kind, id) =>
    creates[kind].get(id) ?? waits?.whyNotCreated?.(kind, id)
  return { ...inputs, waits: { ...waits, whyNotDeleted, whyNotCreated, losses } }
}

/** What is said of an entry that waits because this sync has just deleted it. */
export const IS_BACK = 'is back after this sync deleted it within the last day: not created yet'

/** A server that lags shows people whom this sync has just deleted. */
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
    const what = `${amount(ids.length, kind)} that this sync deleted within the last day ${ids.length === 1 ? 'is' : 'are'} back`
    const detail = `${what}; perhaps an older state of the source was read`
    findings.push({
      guard: 'reborn',
      detail,
      changes: back.map(({ fingerprint }) => fingerprint),
      waitsFor: 'better-read',
      holds: [{ kind, ids, what: 'create', notice: IS_BACK }],
    })
  }
  return findings
}

/**
 * Groups that keep members because the second look did not prove the loss: the next run looks again, or a person
 * approves.
 */
function unprovedLosses(first: Plan, { notices }: Plan, findings: readonly Finding[]): Breach[] {
  const losing = findings.flatMap(({ holds }) => holds.filter(({ what }) => what === 'members'))
  const named = new Set(losing.flatMap(({ ids }) => ids))
  const kept = notices.filter(({ code, id }) => code === 'members-kept' && !named.has(id ?? ''))
  const [example] = kept
  if (example === undefined) return []
  const prints = fingerprintsById(first, 'set-members')
  const changes = kept.flatMap(({ id }) => prints.get(id ?? '') ?? [])
  const detail = `${amount(kept.length, 'group')} would lose members, and a second look did not prove it: ${example.detail}`
  return [{ guard: 'members-unproved', detail, changes, waitsFor: 'better-read' }]
}
