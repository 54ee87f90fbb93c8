import type { LossLook, PreferredServer } from '../directory/evidence.ts'
import type { Kind } from '../directory/entry.ts'
import type { DirectorySnapshot, Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import { type Baseline, mayBeEmptied } from '../plan/baseline.ts'
import { type Evidence, lossesOf, prove, withLosses } from '../plan/evidence.ts'
import { type Absences, type Grace, graceOf } from '../plan/grace.ts'
import { type Breach, checkGuards, type GuardFacts, type GuardLimits, isApproved } from '../plan/guards.ts'
import { refuseIncompleteRead } from '../plan/incomplete-read.ts'
import type { Only, PlanInputs, PlanRules, Withheld } from '../plan/inputs.ts'
import { deleteCandidates, makePlan, type Plan } from '../plan/plan.ts'
import type { Source } from '../source/source.ts'
import { bothOrNeither } from './both.ts'

/** What a run remembers from earlier runs and from what people decided. */
export interface Memory extends Pick<GuardFacts, 'deletedLastDay'> {
  readonly withheld: ReadonlyMap<string, Withheld>
  /** The fingerprints of the changes that a person approved. */
  readonly approved: ReadonlySet<string>
  /** The source in the last completed run of this sync on this directory, if there was one. */
  readonly lastGood:
    | (NonNullable<GuardFacts['lastGood']> & { readonly groupsWithMembers: number | undefined })
    | undefined
  readonly absences: Absences
  /** The store's time. */
  readonly now: Date
}

/** Both sides of a run, and what was made of them. */
export interface Planned {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
  /** What may be applied, without what waits. */
  readonly plan: Plan
  /** What guards object to the whole plan, and what the evidence objects to single changes, which are not in the plan. */
  readonly breaches: readonly Breach[]
  /** Whether the plan makes deletes that a person approved. */
  readonly isApproved: boolean
  /** The ids that the directory has and the source does not. */
  readonly absent: Readonly<Record<Kind, readonly string[]>>
}

export interface RunDeps {
  readonly mode: 'sync' | 'plan'
  readonly only: Only | undefined
  readonly source: Pick<Source, 'read' | 'lookAgain' | 'lookAtLosses'>
  readonly readDirectory: (signal: AbortSignal) => Promise<DirectorySnapshot>
  readonly rules: PlanRules
  readonly limits: GuardLimits
  readonly grace: Grace
  /** Waits until no request of an overtaken run can be under way any more. */
  readonly settle: (signal: AbortSignal) => Promise<void>
  readonly recall: () => Promise<Memory>
  /** Where the entries of the last good run were. Asked for only when containers may have been emptied. */
  readonly recallBaseline: (kind: Kind) => Promise<Baseline | undefined>
  /** The ids that this sync deleted within the last day. */
  readonly recallDeleted: () => Promise<Evidence['deletedLastDay']>
  readonly enter: (state: 'planning' | 'applying') => Promise<void>
  readonly keep: (planned: Planned) => Promise<void>
  readonly hold: (planned: Planned) => Promise<void>
  /** Applies the stored plan; returns when every change has its final state. */
  readonly apply: (signal: AbortSignal) => Promise<void>
  readonly complete: (planned: Planned) => Promise<void>
}

export type RunEnd = 'planned' | 'held' | 'done'

/** One pass: read both sides, plan, guard, apply. Whatever is thrown on the way, nothing was written before `apply`. */
export async function runSync(deps: RunDeps, signal: AbortSignal): Promise<RunEnd> {
  await deps.settle(signal)
  const [source, directory] = await bothOrNeither(
    (both) => [deps.source.read(both), deps.readDirectory(both)],
    signal,
  )
  await deps.enter('planning')
  const absent = deleteCandidates(source, directory)
  const sightings = await lookAgain(deps, source, absent, signal)
  refuseIncompleteRead(source, sightings)
  const memory = await deps.recall()
  const inputs = inputsOf(deps, { source, directory, sightings, memory })
  const { plan, findings } = await planAndProve(deps, inputs, memory, signal)
  const guards = checkGuards(plan, factsOf(source, directory, memory), deps.limits)
  const planned: Planned = {
    source,
    directory,
    plan,
    breaches: [...guards, ...findings],
    isApproved: plan.changes.some(
      ({ removes, fingerprint }) => removes > 0 && memory.approved.has(fingerprint),
    ),
    absent,
  }
  await deps.keep(planned)
  if (deps.mode === 'plan') return 'planned'
  if (!isApproved(guards, memory.approved)) {
    await deps.hold(planned)
    return 'held'
  }
  await deps.enter('applying')
  if (plan.changes.length > 0) await deps.apply(signal)
  await deps.complete(planned)
  return 'done'
}

interface Read extends Pick<PlanInputs, 'source' | 'directory' | 'sightings'> {
  readonly memory: Memory
}

function inputsOf({ rules, only, grace }: RunDeps, { memory, ...read }: Read): PlanInputs {
  const { withheld, absences, now } = memory
  const whyNotDeleted = (kind: Kind, id: string) => graceOf(grace, absences, now, kind, id)
  return { ...read, rules, withheld, only, waits: { whyNotDeleted } }
}

/** The plan of what the evidence proves. Groups that would lose members are looked at a second time first. */
async function planAndProve(deps: RunDeps, inputs: PlanInputs, memory: Memory, signal: AbortSignal) {
  const first = makePlan(inputs)
  const losses = await lookAtLosses(deps, inputs.source, first, signal)
  const decided = withLosses(inputs, losses)
  const plan = decided === inputs ? first : makePlan(decided)
  return prove(decided, plan, await evidenceOf(deps, decided, memory, losses))
}

async function lookAtLosses(
  { source }: RunDeps,
  snapshot: SourceSnapshot,
  plan: Plan,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, LossLook>> {
  const losses = lossesOf(plan)
  if (losses.size === 0 || source.lookAtLosses === undefined) return new Map()
  return source.lookAtLosses(snapshot, losses, signal)
}

async function evidenceOf(
  deps: RunDeps,
  { source, sightings }: PlanInputs,
  { approved, lastGood }: Memory,
  losses: ReadonlyMap<string, LossLook>,
): Promise<Evidence> {
  const baselineOf = async (kind: Kind): Promise<Baseline | undefined> =>
    source.eachPlace !== undefined && mayBeEmptied(sightings[kind]) ? deps.recallBaseline(kind) : undefined
  return {
    baselines: { user: await baselineOf('user'), group: await baselineOf('group') },
    groupsWithMembers: lastGood?.groupsWithMembers,
    losses,
    deletedLastDay:
      source.server === undefined ? { user: new Set(), group: new Set() } : await deps.recallDeleted(),
    approved,
  }
}

/** The second look at every entry that the plan might delete; none where the policy or the first look forbids deletes. */
async function lookAgain(
  deps: RunDeps,
  source: SourceSnapshot,
  candidates: Planned['absent'],
  signal: AbortSignal,
): Promise<Record<Kind, ReadonlyMap<string, Sighting>>> {
  const sightings: Record<Kind, ReadonlyMap<string, Sighting>> = { user: new Map(), group: new Map() }
  if (deps.rules.policy !== 'mirror' || source.unreadable > 0) return sightings
  for (const kind of ['user', 'group'] as const) {
    if (candidates[kind].length === 0) continue
    sightings[kind] = await deps.source.lookAgain(kind, candidates[kind], signal)
  }
  return sightings
}

function factsOf(source: SourceSnapshot, directory: DirectorySnapshot, memory: Memory): GuardFacts {
  let memberships = 0
  for (const group of directory.groups.values()) memberships += group.members.length
  return {
    source: { users: source.seen.user.size, groups: source.seen.group.size },
    directory: { users: directory.users.size, groups: directory.groups.size, memberships },
    unprovedEmpty: directory.unprovedEmpty,
    lastGood: memory.lastGood,
    deletedLastDay: memory.deletedLastDay,
  }
}
