import type { LossLook } from '../directory/evidence.ts'
import type { Kind } from '../directory/entry.ts'
import type { NoticeCode, Sighting } from '../directory/snapshot.ts'
import { amount, digits } from '../directory/wording.ts'
import { type Baseline, findEmptied } from './baseline.ts'
import { type Change, deleteFingerprint } from './change.ts'
import type { Breach } from './guards.ts'
import type { DeleteWait, PlanInputs, Waits } from './inputs.ts'
import { makePlan, type Plan } from './plan.ts'

/** What the plan is held against, besides what was read. */
export interface Evidence {
  /** Of the last good run; without one nothing is known of containers. */
  readonly baselines: Readonly<Record<Kind, Baseline | undefined>>
  /** How many groups listed a member in the last good run. */
  readonly groupsWithMembers: number | undefined
  /** What the second look says of groups that would lose members, by id. */
  readonly losses: ReadonlyMap<string, LossLook>
  /** The ids that this sync deleted within the last day. Empty for sources whose servers cannot lag. */
  readonly deletedLastDay: Readonly<Record<Kind, ReadonlySet<string>>>
  /** The fingerprints of the changes that a person approved. */
  readonly approved: ReadonlySet<string>
}

/** A plan without what the evidence does not prove, and the objections that name what waits. */
export interface ProvedPlan {
  readonly plan: Plan
  readonly findings: readonly Breach[]
  /** The containers in which nobody is left. */
  readonly emptied: Readonly<Record<Kind, readonly string[]>>
}

/** A finding, and what of the plan waits for it. */
interface Finding extends Required<Breach> {
  /** Where nobody is left. */
  readonly container?: string
  readonly kind: Kind
  readonly ids: readonly string[]
  readonly what: 'delete' | 'create' | 'members'
  /** What is said of each entry. */
  readonly notice: string
}

/** For each group that the plan takes members from, the ids of those members. */
export function lossesOf({ changes }: Plan): ReadonlyMap<string, readonly string[]> {
  const losses = new Map<string, readonly string[]>()
  for (const { change, removes } of changes) {
    if (change.op !== 'set-members' || removes === 0) continue
    const after = new Set(change.want)
    losses.set(
      change.id,
      change.have.filter((id) => !after.has(id)),
    )
  }
  return losses
}

/** The inputs with what the second look says of groups that would lose members; the same inputs if it proved every loss. */
export function withLosses(inputs: PlanInputs, looks: ReadonlyMap<string, LossLook>): PlanInputs {
  // A group without any member is a finding of its own, which a person can approve.
  const deciding = [...looks].filter(
    ([id, look]) => look.stillMembers.length > 0 || (look.unproved !== undefined && !isEmptied(inputs, id)),
  )
  if (deciding.length === 0) return inputs
  return { ...inputs, waits: { ...inputs.waits, losses: new Map(deciding) } }
}

function isEmptied({ source }: PlanInputs, group: string): boolean {
  return source.groups.get(group)?.members.length === 0
}

/**
 * Takes out of a plan what the evidence does not prove, and says what waits and why. What depends on a change that was taken out
 * (an e-mail that stays taken, a membership of somebody who is not created) is not planned either, because the plan is
 * made again without it.
 *
 * @param plan what `makePlan` made of the inputs
 */
export function prove(inputs: PlanInputs, plan: Plan, evidence: Evidence): ProvedPlan {
  const findings = [
    ...emptiedContainers(inputs, plan, evidence),
    ...groupsWithoutMembers(inputs, plan, evidence),
    ...reborn(plan, evidence),
  ]
  const proved = findings.length === 0 ? plan : without(inputs, findings)
  const breaches = findings.map(({ guard, detail, changes, waitsFor }) => ({
    guard,
    detail,
    changes,
    waitsFor,
  }))
  const emptied = Map.groupBy(
    findings.filter(({ container }) => container !== undefined),
    ({ kind }) => kind,
  )
  const namesOf = (kind: Kind) => (emptied.get(kind) ?? []).flatMap(({ container = '' }) => container)
  return {
    plan: proved,
    findings: [...breaches, ...unprovedLosses(proved, findings)],
    emptied: { user: namesOf('user'), group: namesOf('group') },
  }
}

/** Makes the plan without the changes that the findings name, and without what depends on them. */
function without(inputs: PlanInputs, findings: readonly Finding[]): Plan {
  const { waits } = inputs
  const deletes = { user: new Map<string, string>(), group: new Map<string, string>() }
  const creates = { user: new Map<string, string>(), group: new Map<string, string>() }
  const losses = new Map(waits?.losses)
  for (const { kind, ids, what, notice: detail } of findings) {
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
  return makePlan({ ...inputs, waits: { ...waits, whyNotDeleted, whyNotCreated, losses } })
}

/** Who cannot be read any more looks gone, or outside of a filter whose attributes are hidden. */
const ABSENT: ReadonlySet<Sighting | undefined> = new Set(['gone', 'left-filter'])

/** Entries of one container that are absent by id, in which nobody is left: perhaps the reader may not see it any more. */
function emptiedContainers(
  { source, sightings, waits }: PlanInputs,
  plan: Plan,
  { baselines, approved }: Evidence,
): Finding[] {
  const { eachPlace } = source
  if (eachPlace === undefined || waits?.allButNew !== undefined) return []
  return (['user', 'group'] as const).flatMap((kind) => {
    const before = baselines[kind]
    if (before === undefined) return []
    const planned = deletesById(plan, kind)
    const absent = [...sightings[kind].keys()].filter((id) => ABSENT.has(sightings[kind].get(id)))
    const emptied = findEmptied(before, (visit) => eachPlace(kind, visit), absent)
    return emptied.flatMap(({ container, ids }) => {
      const waiting = ids.filter((id) => isUnapproved(planned.get(id), approved))
      if (waiting.length === 0) return []
      const outside = ids.filter((id) => sightings[kind].get(id) === 'left-filter').length
      const detail =
        `${amount(ids.length, kind)} of "${container}" ${ids.length === 1 ? 'is' : 'are'} absent` +
        `${outside === 0 ? '' : ` (${digits(outside)} still in the source, but outside the sync's filter)`}, and no ${kind} ` +
        `is left there; perhaps the reader may not see ${outside === 0 ? 'it' : 'what the filter asks for'} any more`
      return [
        {
          guard: 'container-emptied',
          detail,
          changes: waiting.map((id) => planned.get(id) ?? ''),
          waitsFor: 'person',
          kind,
          ids: waiting,
          what: 'delete',
          container,
          notice: `is absent, and no ${kind} is left in "${container}": not deleted`,
        } as const,
      ]
    })
  })
}

/** A group with fewer members than these may well lose them all at once. */
const MIN_EMPTIED = 5

/** Groups that lose all their members, and all groups where none in the whole source lists a member any more. */
function groupsWithoutMembers(
  inputs: PlanInputs,
  plan: Plan,
  { groupsWithMembers, losses, approved }: Evidence,
): Finding[] {
  const losing = plan.changes.filter(
    ({ change, removes, fingerprint: print }) =>
      change.op === 'set-members' && removes > 0 && !approved.has(print),
  )
  const finding = (guard: string, detail: string, of: typeof losing): Finding => ({
    guard,
    detail,
    changes: of.map((planned) => planned.fingerprint),
    waitsFor: 'person',
    kind: 'group',
    ids: of.map(({ change }) => change.id),
    what: 'members',
    notice: detail,
  })
  if (inputs.source.groupsWithMembers === 0 && (groupsWithMembers ?? 0) > 0 && losing.length > 0) {
    const detail =
      `no group of the source lists a member, and ${digits(groupsWithMembers ?? 0)} did in the last good run; perhaps ` +
      'the attribute with the members is another one, or the reader may not see it any more'
    return [finding('members-gone', detail, losing)]
  }
  return losing.flatMap((planned) => {
    const { change } = planned
    if (change.op !== 'set-members' || !isEmptied(inputs, change.id)) return []
    const look = losses.get(change.id)
    if (look?.provedEmpty || (look?.unproved === undefined && change.have.length < MIN_EMPTIED)) return []
    const why = look?.unproved ?? 'perhaps the reader may not see them any more'
    const had = amount(change.have.length, 'member')
    return [finding('group-emptied', `group "${change.name}" had ${had} and has none; ${why}`, [planned])]
  })
}

/** A server that lags shows people whom this sync has just deleted. */
function reborn(plan: Plan, { deletedLastDay, approved }: Evidence): Finding[] {
  return (['user', 'group'] as const).flatMap((kind) => {
    const creates = fingerprintsById(plan, `create-${kind}`)
    const ids = [...creates.keys()].filter(
      (id) => deletedLastDay[kind].has(id) && isUnapproved(creates.get(id), approved),
    )
    if (ids.length === 0) return []
    const what = `${amount(ids.length, kind)} that this sync deleted within the last day ${ids.length === 1 ? 'is' : 'are'} back`
    const detail = `${what}; perhaps an older state of the source was read`
    const changes = ids.map((id) => creates.get(id) ?? '')
    const notice = 'is back after this sync deleted it within the last day: not created yet'
    return [
      {
        guard: 'reborn',
        detail,
        changes,
        waitsFor: 'better-read',
        kind,
        ids,
        what: 'create',
        notice,
      } as const,
    ]
  })
}

/** Groups that keep members because the second look did not prove the loss; the next run looks again. */
function unprovedLosses({ notices }: Plan, findings: readonly Finding[]): Breach[] {
  const named = new Set(findings.filter(({ what }) => what === 'members').flatMap(({ ids }) => ids))
  const kept = notices.filter(({ code, id }) => code === 'members-kept' && !named.has(id ?? ''))
  const [first] = kept
  if (first === undefined) return []
  const detail = `${amount(kept.length, 'group')} would lose members, and a second look did not prove it: ${first.detail}`
  return [{ guard: 'members-unproved', detail, changes: [], waitsFor: 'better-read' }]
}

const WAITING: ReadonlySet<NoticeCode> = new Set(['in-grace', 'unproved'])

/** The deletes of the plan, and those that wait for their time: in grace, people leave their groups at once. */
function deletesById(plan: Plan, kind: Kind): ReadonlyMap<string, string> {
  const deletes = new Map(fingerprintsById(plan, `delete-${kind}`))
  for (const { code, kind: of, id } of plan.notices)
    if (WAITING.has(code) && of === kind && id !== undefined) deletes.set(id, deleteFingerprint(kind, id))
  return deletes
}

function fingerprintsById(plan: Plan, op: Change['op']): ReadonlyMap<string, string> {
  const planned = plan.changes.filter(({ change }) => change.op === op)
  return new Map(planned.map(({ change, fingerprint: print }) => [change.id, print]))
}

function isUnapproved(print: string | undefined, approved: ReadonlySet<string>): boolean {
  return print !== undefined && !approved.has(print)
}
