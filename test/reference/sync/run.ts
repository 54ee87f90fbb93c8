import type { LossLook, PreferredServer } from '../directory/evidence.ts'
import type { Kind } from '../directory/entry.ts'
import type { DirectorySnapshot, Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import type { Steps } from '../directory/steps.ts'
import type { UserTable } from '../directory/user-table.ts'
import type { Baseline } from '../plan/baseline.ts'
import { deleteFingerprint } from '../plan/change.ts'
import { changeSince, type ConfigurationChange, type Options } from '../plan/configuration.ts'
import type { RecordedBreach } from '../plan/decide.ts'
import { type Evidence, lossesOf, prove, type ProvedPlan } from '../plan/evidence/evidence.ts'
import { doubtfulDns, entriesOfOthers } from '../plan/evidence/nesting.ts'
import { type Absences, type Grace, whyDeleteWaits } from '../plan/grace.ts'
import {
  type Breach,
  checkGuards,
  type GuardFacts,
  type GuardLimits,
  heldChanges,
  isApproved,
} from '../plan/guards.ts'
import { stillLeftOut } from '../plan/left-out.ts'
import { chooseChanges } from '../plan/part/choose.ts'
import type { Part } from '../plan/part/part.ts'
import { isShorter, refuseIncompleteRead } from '../plan/incomplete-read.ts'
import type { Only, PlanInputs, PlanRules, Withheld } from '../plan/inputs.ts'
import type { Plan } from '../plan/changes.ts'
import { deleteCandidates, planInSteps } from '../plan/plan.ts'
import { judgeServer, serverFindings, type ServerJudgement, type ServerMemory } from '../plan/server.ts'
import type { Source } from '../source/source.ts'
import { inTurns } from '../turns.ts'
import { bothOrNeither } from './both.ts'

/** What a run remembers from earlier runs and from what people decided. */
export interface Memory extends Pick<GuardFacts, 'deletedLastDay'> {
  readonly withheld: ReadonlyMap<string, Withheld>
  readonly refused: ReadonlySet<string>
  /** The fingerprints of the changes that a person approved. */
  readonly approved: ReadonlySet<string>
  /** The source in the last completed run of this sync on this directory, if there was one. */
  readonly lastGood:
    | (NonNullable<GuardFacts['lastGood']> &
        Pick<Evidence, 'groupsWithMembers' | 'nesting' | 'memberLists' | 'waitingGroups'>)
    | undefined
  /** How much the directory had at the end of that run, where this is still known. */
  readonly directoryBefore: Readonly<Record<Kind, number>> | undefined
  readonly absences: Absences
  /** What a person left out who approved a part of a plan. */
  readonly leftOut: Breach | undefined
  /** The server of the last good read, where the source has servers. */
  readonly server: ServerMemory | undefined
  /** The options with which the last completed run of all entries was made. */
  readonly lastOptions: { readonly run: number; readonly options: Options } | undefined
  /** The store's time. */
  readonly now: Date
}

/** Both sides of a run, and what was made of them. */
export interface Planned extends Omit<ProvedPlan, 'findings'> {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
  /** What the read says of its server; `undefined` where the source has none. */
  readonly server: ServerJudgement | undefined
  /**
   * What guards object to the whole plan, and what the evidence objects to single changes, which are not in the plan.
   */
  readonly breaches: readonly RecordedBreach[]
  /** Whether guards hold the plan, so that nothing of it is applied. */
  readonly isHeld: boolean
  /** Which options are not as in the last completed run. */
  readonly configurationChange: ConfigurationChange | undefined
  /** The fingerprints of the changes that a person approved. */
  readonly approved: ReadonlySet<string>
  /** The ids that the directory has and the source does not. */
  readonly absent: Readonly<Record<Kind, readonly string[]>>
}

export interface RunDeps {
  readonly mode: 'sync' | 'plan'
  readonly only: Only | undefined
  /** Set where only a part of the plan is to be applied. */
  readonly part: Part | undefined
  /** A person asked for the run, not the schedule. */
  readonly isAsked: boolean
  /** Where the users of both sides are kept. */
  readonly table: UserTable
  readonly source: Pick<Source, 'read' | 'lookAgain' | 'lookAtLosses' | 'idsAt'>
  readonly readDirectory: (signal: AbortSignal, table: UserTable) => Promise<DirectorySnapshot>
  readonly rules: PlanRules
  readonly limits: GuardLimits
  readonly grace: Grace
  /** Hashes of the options that decide who is in the directory and how values come about. */
  readonly options: Options
  /** Waits until no request of an overtaken run can be under way any more. */
  readonly settle: (signal: AbortSignal) => Promise<void>
  /** The server of the last good read. */
  readonly preferredServer: () => Promise<PreferredServer | undefined>
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
  const preferred = await deps.preferredServer()
  const { isAsked, table } = deps
  const [source, listed] = await bothOrNeither(
    (both) => [deps.source.read(both, { preferred, isAsked, table }), deps.readDirectory(both, table)],
    signal,
  )
  await deps.enter('planning')
  const absent = await inTurns(deleteCandidates(source, listed), signal)
  const sightings = await lookAgain(deps, source, absent, signal)
  const memory = await deps.recall()
  const directory = doubtIfShort(listed, memory)
  const server = judge(deps, source, memory)
  // An older server that catches up between the two looks is not to blame for its first answer.
  if (server?.scope !== 'nothing') refuseIncompleteRead(source, sightings)
  const inputs = inputsOf(deps, { source, directory, sightings, memory, server })
  const { findings, ...proved } = await planAndProve(deps, inputs, { memory, server }, signal)
  const { plan } = proved
  const configurationChange = changeSince(memory.lastOptions, deps.options)
  const facts = { ...factsOf(inputs, plan, memory), configurationChange }
  const limited = await inTurns(checkGuards(plan, facts, deps.limits), signal)
  if (deps.part !== undefined) {
    const some = await inTurns(partOf(plan, deps.part, limited, memory.approved), signal)
    const chosen = { ...proved, plan: some, source, directory, server, breaches: [], isHeld: false }
    return carryOut(deps, { ...chosen, approved: memory.approved, absent, configurationChange }, signal)
  }
  const guards = [...limited, ...(await inTurns(stillLeftOut(plan, memory.leftOut), signal))]
  const planned: Planned = {
    ...proved,
    source,
    directory,
    server,
    breaches: [...(deps.mode === 'plan' ? withApprovals(guards, memory) : guards), ...findings],
    isHeld: deps.mode === 'sync' && !isApproved(guards, memory.approved),
    configurationChange,
    approved: memory.approved,
    absent,
  }
  return carryOut(deps, planned, signal)
}

/** Stores what was planned, and applies it unless it is only to be shown or a guard holds it. */
export async function carryOut(
  deps: Pick<RunDeps, 'mode' | 'keep' | 'hold' | 'enter' | 'apply' | 'complete'>,
  planned: Planned,
  signal: AbortSignal,
): Promise<RunEnd> {
  await deps.keep(planned)
  if (deps.mode === 'plan') return 'planned'
  if (planned.isHeld) {
    await deps.hold(planned)
    return 'held'
  }
  await deps.enter('applying')
  if (planned.plan.changes.length > 0) await deps.apply(signal)
  await deps.complete(planned)
  return 'done'
}

/** The part of a plan that no remaining breach names. */
function* partOf(
  plan: Plan,
  part: Part,
  guards: readonly Breach[],
  approved: ReadonlySet<string>,
): Steps<Plan> {
  const held = new Set(heldChanges(guards).filter((print) => !approved.has(print)))
  const changes = yield* chooseChanges(plan.changes, part, (print) => !held.has(print))
  return { ...plan, changes, digest: yield* changes.digest() }
}

/** Nothing is held by a plan, so nobody decides on it; but what was approved before would not hold a sync. */
function withApprovals(guards: readonly Breach[], { approved }: Memory): readonly RecordedBreach[] {
  return guards.map((guard) => (isApproved([guard], approved) ? { ...guard, decided: 'approved' } : guard))
}

/**
 * A list that is empty after a run with entries, or much shorter than after the last good run, may be a broken answer,
 * so whoever seems new is looked up first.
 */
export function doubtIfShort(
  directory: DirectorySnapshot,
  { lastGood, directoryBefore }: Memory,
): DirectorySnapshot {
  const isEmptied = (['users', 'groups'] as const).some(
    (kind) => directory[kind].size === 0 && (lastGood?.[kind] ?? 0) > 0,
  )
  const listed = { user: directory.users.size, group: directory.groups.size }
  const isShort = directoryBefore !== undefined && isShorter(listed, directoryBefore)
  return isEmptied || isShort ? { ...directory, moved: true } : directory
}

/** What a read is held against. */
interface Judged {
  readonly memory: Memory
  readonly server: ServerJudgement | undefined
}

function judge(
  { grace }: RunDeps,
  { server }: SourceSnapshot,
  { server: before, now, approved }: Memory,
): ServerJudgement | undefined {
  if (server === undefined) return undefined
  const isAccepted = (token: string): boolean => approved.has(token)
  return judgeServer(before, server, { ...grace, now, isAccepted })
}

type Read = Pick<PlanInputs, 'source' | 'directory' | 'sightings'> & Judged

function inputsOf(
  { rules, only, grace }: RunDeps,
  { memory: { withheld, refused, absences, approved, now }, server, ...read }: Read,
): PlanInputs {
  const { deleteAfter, confirmAfterMs } = grace
  const confirming = server?.scope === 'confirmed-deletes'
  const rule = { deleteAfter, confirmAfterMs: confirming ? confirmAfterMs : undefined }
  // Whoever approves a delete does not wait for it.
  const whyNotDeleted = (kind: Kind, id: string) =>
    approved.has(deleteFingerprint(kind, id)) ? undefined : whyDeleteWaits(rule, absences, now, kind, id)
  // Briefly, because each entry says it; the report says once what is wrong with the server.
  const doubt = 'the server may lack what the last good read had'
  const allButNew = server?.scope === 'additions' ? doubt : undefined
  const everything = server?.scope === 'nothing' ? doubt : undefined
  return { ...read, rules, withheld, refused, only, waits: { everything, allButNew, whyNotDeleted } }
}

/** The plan of what the evidence proves. Groups that would lose members are looked at a second time first. */
async function planAndProve(
  deps: RunDeps,
  inputs: PlanInputs,
  { memory, server }: Judged,
  signal: AbortSignal,
): Promise<ProvedPlan> {
  const doubts = server === undefined ? [] : serverFindings(server)
  const first = await inTurns(planInSteps(inputs), signal)
  const losses =
    server?.scope === 'nothing' ? new Map() : await lookAtLosses(deps, inputs.source, first, signal)
  const evidence = await evidenceOf(deps, inputs, { memory, losses }, signal)
  const proved = await inTurns(prove(inputs, first, evidence), signal)
  return { ...proved, findings: [...doubts, ...proved.findings] }
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
  inputs: PlanInputs,
  {
    memory: { approved, lastGood },
    losses,
  }: { readonly memory: Memory; readonly losses: ReadonlyMap<string, LossLook> },
  signal: AbortSignal,
): Promise<Evidence> {
  const { source, sightings } = inputs
  const nesting = lastGood?.nesting ?? { ids: new Map(), strangers: new Map() }
  const doubtful = doubtfulDns(inputs, nesting)
  const shown = doubtful.length === 0 ? undefined : await deps.source.idsAt?.(doubtful, signal)
  const baselineOf = async (kind: Kind): Promise<Baseline | undefined> =>
    source.eachPlace !== undefined && sightings[kind].size > 0 ? deps.recallBaseline(kind) : undefined
  return {
    baselines: { user: await baselineOf('user'), group: await baselineOf('group') },
    groupsWithMembers: lastGood?.groupsWithMembers,
    nesting,
    memberLists: lastGood?.memberLists ?? new Map(),
    otherEntries: entriesOfOthers(inputs, nesting, shown ?? new Map()),
    waitingGroups: lastGood?.waitingGroups ?? new Set(),
    losses,
    deletedLastDay:
      source.server === undefined ? { user: new Set(), group: new Set() } : await deps.recallDeleted(),
    approved,
  }
}

/**
 * The second look at every entry that the plan might delete; none where the policy or the first look forbids deletes.
 */
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

/** What the guards know besides the plan. */
export function factsOf({ source, directory }: PlanInputs, { notices }: Plan, memory: Memory): GuardFacts {
  let memberships = 0
  for (const group of directory.groups.values()) memberships += group.members.length
  const waiting = { user: 0, group: 0 }
  for (const { code, kind, id } of notices)
    if (code === 'unproved' && id !== undefined && !source.seen[kind].has(id)) waiting[kind] += 1
  return {
    source: { users: source.seen.user.size, groups: source.seen.group.size },
    waiting: { users: waiting.user, groups: waiting.group },
    directory: { users: directory.users.size, groups: directory.groups.size, memberships },
    unprovedEmpty: directory.unprovedEmpty,
    lastGood: memory.lastGood,
    deletedLastDay: memory.deletedLastDay,
  }
}
