import type { Kind } from '../directory/entry.ts'
import type { DirectorySnapshot, Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import { type Breach, checkGuards, type GuardFacts, type GuardLimits, isApproved } from '../plan/guards.ts'
import { refuseIncompleteRead } from '../plan/incomplete-read.ts'
import type { Only, PlanRules, Withheld } from '../plan/inputs.ts'
import { deleteCandidates, makePlan, type Plan } from '../plan/plan.ts'
import type { Source } from '../source/source.ts'
import { bothOrNeither } from './both.ts'

/** What a run remembers from earlier runs and from what people decided. */
export interface Memory extends Pick<GuardFacts, 'lastGood' | 'deletedLastDay'> {
  readonly withheld: ReadonlyMap<string, Withheld>
  /** The fingerprints of the changes that a person approved. */
  readonly approved: ReadonlySet<string>
}

/** Both sides of a run, and what was made of them. */
export interface Planned {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
  readonly plan: Plan
  readonly breaches: readonly Breach[]
}

export interface RunDeps {
  readonly mode: 'sync' | 'plan'
  readonly only: Only | undefined
  readonly source: Pick<Source, 'read' | 'lookAgain'>
  readonly readDirectory: (signal: AbortSignal) => Promise<DirectorySnapshot>
  readonly rules: PlanRules
  readonly limits: GuardLimits
  /** Waits until no request of an overtaken run can be under way any more. */
  readonly settle: (signal: AbortSignal) => Promise<void>
  readonly recall: () => Promise<Memory>
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
  const sightings = await lookAgain(deps, source, directory, signal)
  refuseIncompleteRead(source, sightings)
  const memory = await deps.recall()
  const plan = makePlan({
    source,
    directory,
    sightings,
    rules: deps.rules,
    withheld: memory.withheld,
    only: deps.only,
  })
  const breaches = checkGuards(plan, factsOf(source, directory, memory), deps.limits)
  const planned = { source, directory, plan, breaches }
  await deps.keep(planned)
  if (deps.mode === 'plan') return 'planned'
  if (!isApproved(breaches, memory.approved)) {
    await deps.hold(planned)
    return 'held'
  }
  await deps.enter('applying')
  if (plan.changes.length > 0) await deps.apply(signal)
  await deps.complete(planned)
  return 'done'
}

/** The second look at every entry that the plan might delete; none where the policy or the first look forbids deletes. */
async function lookAgain(
  deps: RunDeps,
  source: SourceSnapshot,
  directory: DirectorySnapshot,
  signal: AbortSignal,
): Promise<Record<Kind, ReadonlyMap<string, Sighting>>> {
  const sightings: Record<Kind, ReadonlyMap<string, Sighting>> = { user: new Map(), group: new Map() }
  if (deps.rules.policy !== 'mirror' || source.unreadable > 0) return sightings
  const candidates = deleteCandidates(source, directory)
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
