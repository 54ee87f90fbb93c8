import { isWaitingDelete, type Wait } from '../core/notice.ts'
import type { LossLook, PreferredServer } from '../core/entries/evidence.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { Sighting } from '../core/entries/recheck.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../core/entries/snapshot.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import type { UserTable } from '../core/entries/user-table.ts'
import type { Baseline } from '../core/plan/baseline.ts'
import { deleteFingerprint } from '../core/plan/change.ts'
import { changeSince, type ConfigurationChange, type Options } from '../core/plan/configuration.ts'
import type { RecordedBreach } from '../core/plan/decide.ts'
import { type Evidence, lossesOf, prove, type ProvedPlan } from '../core/plan/evidence/evidence.ts'
import { MOST_UNKNOWN } from '../core/plan/evidence/losses/members-now.ts'
import { doubtfulDns, entriesOfOthers } from '../core/plan/evidence/nesting.ts'
import { type Absences, type Grace, whyDeleteWaits } from '../core/plan/grace.ts'
import {
  type Breach,
  checkGuards,
  type GuardFacts,
  type GuardLimits,
  isApproved,
} from '../core/plan/guards.ts'
import { stillLeftOut } from '../core/plan/left-out.ts'
import { chooseChanges } from '../core/plan/part/choose.ts'
import type { Part } from '../core/plan/part/part.ts'
import { refuseIncompleteRead } from '../core/plan/incomplete-read.ts'
import type { Only, PlanInputs, PlanRules, Withheld } from '../core/plan/inputs.ts'
import type { Plan } from '../core/plan/changes.ts'
import { deleteCandidates, planInSteps } from '../core/plan/plan.ts'
import { judgeServer, serverFindings, type ServerJudgement, type ServerMemory } from '../core/plan/server.ts'
import type { Source } from '../source/source.ts'
import { inTurns } from '../base/turns.ts'
import { bothOrNeither } from './both.ts'
import { recheckLosses } from './recheck-losses.ts'

export interface Memory extends Pick<GuardFacts, 'deletedLastDay'> {
  readonly withheld: ReadonlyMap<string, Withheld>
  readonly refused: ReadonlySet<string>
  readonly approved: ReadonlySet<string>
  /** The source in the last complete run of this sync on this directory. */
  readonly lastGood:
    | (NonNullable<GuardFacts['lastGood']> &
        Pick<Evidence, 'groupsWithMembers' | 'nesting' | 'memberLists' | 'waitingGroups'>)
    | undefined
  readonly absences: Absences
  /** The keys that the operator left out of a partial approval. */
  readonly leftOut: Breach | undefined
  /** The server of the last good read, where the source has servers. */
  readonly server: ServerMemory | undefined
  /** The options of the last complete run of all entries. */
  readonly lastOptions: { readonly run: number; readonly options: Options } | undefined
  /** The store's time. */
  readonly now: Date
}

export interface Planned extends Omit<ProvedPlan, 'findings'> {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
  /** `undefined` where the source has no server. */
  readonly server: ServerJudgement | undefined
  /** Blocks of guards on the whole plan, and of anomalies on single changes, which are not in the plan. */
  readonly breaches: readonly RecordedBreach[]
  readonly isHeld: boolean
  readonly configurationChange: ConfigurationChange | undefined
  readonly approved: ReadonlySet<string>
  /** The ids that the directory has and the source does not. */
  readonly absent: Readonly<Record<Kind, readonly string[]>>
}

export interface RunDeps {
  readonly mode: 'sync' | 'plan'
  readonly only: Only | undefined
  readonly part: Part | undefined
  /** An operator asked for the run, not the schedule. */
  readonly isAsked: boolean
  readonly table: UserTable
  readonly source: Pick<Source, 'read' | 'readIds' | 'readDns'>
  readonly readDirectory: (signal: AbortSignal, table: UserTable) => Promise<DirectorySnapshot>
  readonly rules: PlanRules
  readonly limits: GuardLimits
  readonly grace: Grace
  /** Hashes of the options that change scope or mapping. */
  readonly options: Options
  /** Waits until no request of an overtaken run can be in flight any more. */
  readonly settle: (signal: AbortSignal) => Promise<void>
  readonly preferredServer: () => Promise<PreferredServer | undefined>
  readonly recall: () => Promise<Memory>
  /** Where the entries of the last good run were. Called only when containers may have lost all entries. */
  readonly recallBaseline: (kind: Kind) => Promise<Baseline | undefined>
  readonly recallDeleted: () => Promise<Evidence['deletedLastDay']>
  readonly enter: (state: 'planning' | 'applying') => Promise<void>
  readonly keep: (planned: Planned) => Promise<void>
  readonly hold: (planned: Planned) => Promise<void>
  /** Applies the stored plan; returns when every change is final. */
  readonly apply: (signal: AbortSignal) => Promise<void>
  readonly complete: (planned: Planned) => Promise<void>
}

export type RunEnd = 'planned' | 'held' | 'done'

/** One run: read source and directory, plan, guard, apply. An error before `apply` has written nothing. */
export async function runSync(deps: RunDeps, signal: AbortSignal): Promise<RunEnd> {
  await deps.settle(signal)
  const preferred = await deps.preferredServer()
  const { isAsked, table } = deps
  const [source, directory] = await bothOrNeither(
    (both) => [deps.source.read(both, { preferred, isAsked, table }), deps.readDirectory(both, table)],
    signal,
  )
  await deps.enter('planning')
  const absent = await inTurns(deleteCandidates(source, directory), signal)
  const sightings = await recheck(deps, source, absent, signal)
  const memory = await deps.recall()
  const server = judge(deps, source, memory)
  // An older server that catches up between the two reads is not to blame for its first answer.
  if (server?.scope !== 'nothing') refuseIncompleteRead(source, sightings)
  const inputs = inputsOf(deps, { source, directory, sightings, memory, server })
  const { findings, ...proved } = await planAndProve(deps, inputs, { memory, server }, signal)
  const { plan } = proved
  const configurationChange = changeSince(memory.lastOptions, deps.options)
  const facts = { ...(await inTurns(factsOf(inputs, plan, memory), signal)), configurationChange }
  const limited = await inTurns(checkGuards(plan, facts, deps.limits), signal)
  if (deps.part !== undefined) {
    const some = await inTurns(partOf(plan, deps.part, limited, memory.approved), signal)
    const chosen = { ...proved, plan: some, source, directory, server, breaches: [], isHeld: false }
    return carryOut(deps, { ...chosen, approved: memory.approved, absent, configurationChange }, signal)
  }
  const found = [...limited, ...(await inTurns(stillLeftOut(plan, memory.leftOut), signal))]
  const guards = await inTurns(withApprovals(found, memory), signal)
  const planned: Planned = {
    ...proved,
    source,
    directory,
    server,
    breaches: [...(deps.mode === 'plan' ? guards : found), ...findings],
    isHeld: deps.mode === 'sync' && guards.some(({ decided }) => decided === undefined),
    configurationChange,
    approved: memory.approved,
    absent,
  }
  return carryOut(deps, planned, signal)
}

/** Stores the plan, and applies it unless the run only plans or a guard holds it. */
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
  const held = new Set<string>()
  for (const { changes: named } of guards)
    yield* forEachInSteps(named, (print) => approved.has(print) || held.add(print))
  const changes = yield* chooseChanges(plan.changes, part, (print) => !held.has(print))
  return { ...plan, changes, digest: yield* changes.digest() }
}

/** A plan-only run holds nothing, so it needs no decision; but earlier approvals would not hold a sync. */
function* withApprovals(guards: readonly Breach[], { approved }: Memory): Steps<readonly RecordedBreach[]> {
  const judged: RecordedBreach[] = []
  for (const guard of guards)
    judged.push((yield* isApproved([guard], approved)) ? { ...guard, decided: 'approved' } : guard)
  return judged
}

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
  // An approved delete does not wait.
  const whyNotDeleted = (kind: Kind, id: string) =>
    approved.has(deleteFingerprint(kind, id)) ? undefined : whyDeleteWaits(rule, absences, now, kind, id)
  const doubt: Wait = { code: 'server-not-newer', params: {} }
  const allButNew = server?.scope === 'additions' ? doubt : undefined
  const everything = server?.scope === 'nothing' ? doubt : undefined
  return { ...read, rules, withheld, refused, only, waits: { everything, allButNew, whyNotDeleted } }
}

/** The plan that the evidence proves. Groups that would lose members are rechecked first. */
async function planAndProve(
  deps: RunDeps,
  inputs: PlanInputs,
  { memory, server }: Judged,
  signal: AbortSignal,
): Promise<ProvedPlan> {
  const doubts = server === undefined ? [] : serverFindings(server)
  const first = await inTurns(planInSteps(inputs), signal)
  const losses =
    server?.scope === 'nothing'
      ? new Map()
      : await recheckLosses(deps.source, inputs.source, await inTurns(lossesOf(first), signal), signal)
  const evidence = await evidenceOf(deps, inputs, { memory, losses }, signal)
  const proved = await inTurns(prove(inputs, first, evidence), signal)
  return { ...proved, findings: [...doubts, ...proved.findings] }
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
  const doubtful = await inTurns(doubtfulDns(inputs, nesting), signal)
  // Of more than one run looks up, none is known to be another entry.
  const isLookedUp = doubtful.length > 0 && doubtful.length <= MOST_UNKNOWN
  const shown = isLookedUp ? await deps.source.readDns?.(doubtful, signal) : undefined
  const baselineOf = async (kind: Kind): Promise<Baseline | undefined> =>
    source.places !== undefined && sightings[kind].size > 0 ? deps.recallBaseline(kind) : undefined
  return {
    baselines: { user: await baselineOf('user'), group: await baselineOf('group') },
    groupsWithMembers: lastGood?.groupsWithMembers,
    nesting,
    memberLists: lastGood?.memberLists ?? new Map(),
    otherEntries: await inTurns(entriesOfOthers(inputs, nesting, shown ?? new Map()), signal),
    waitingGroups: lastGood?.waitingGroups ?? new Set(),
    losses,
    deletedLastDay:
      source.server === undefined ? { user: new Set(), group: new Set() } : await deps.recallDeleted(),
    approved,
  }
}

/** Rechecks every entry that the plan might delete; none where the policy or the first read forbids deletes. */
async function recheck(
  deps: RunDeps,
  source: SourceSnapshot,
  candidates: Planned['absent'],
  signal: AbortSignal,
): Promise<Record<Kind, ReadonlyMap<string, Sighting>>> {
  const sightings: Record<Kind, ReadonlyMap<string, Sighting>> = { user: new Map(), group: new Map() }
  if (deps.rules.policy !== 'mirror' || source.unreadable > 0) return sightings
  for (const kind of ['user', 'group'] as const) {
    if (candidates[kind].length === 0) continue
    const rechecks = await deps.source.readIds(kind, candidates[kind], signal)
    const states = new Map<string, Sighting>()
    await inTurns(
      forEachInSteps(rechecks, ([id, { state }]) => states.set(id, state)),
      signal,
    )
    sightings[kind] = states
  }
  return sightings
}

export function* factsOf(
  { source, directory }: PlanInputs,
  { notices }: Plan,
  memory: Memory,
): Steps<GuardFacts> {
  let memberships = 0
  yield* forEachInSteps(directory.groups.values(), ({ members }) => (memberships += members.length))
  const waiting = { user: 0, group: 0 }
  yield* forEachInSteps(notices, (notice) => {
    if (notice.code === 'unproved' && isWaitingDelete(notice)) waiting[notice.kind] += 1
  })
  return {
    source: { users: source.seen.user.size, groups: source.seen.group.size },
    waiting: { users: waiting.user, groups: waiting.group },
    directory: { users: directory.users.size, groups: directory.groups.size, memberships },
    unprovedEmpty: directory.unprovedEmpty,
    lastGood: memory.lastGood,
    deletedLastDay: memory.deletedLastDay,
  }
}
