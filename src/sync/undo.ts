import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import type { NoticeCode } from '../core/notice.ts'
import type { Notice } from '../core/notice.ts'
import { filterInSteps, forEachInSteps, type Steps } from '../base/steps.ts'
import { SourceUsers } from '../core/entries/users.ts'
import type { Plan } from '../core/plan/changes.ts'
import { type Breach, checkGuards, type GuardFacts, isApproved } from '../core/plan/guards.ts'
import type { PlanInputs } from '../core/plan/inputs.ts'
import { planInSteps } from '../core/plan/plan.ts'
import { compileSelections } from '../core/plan/selection.ts'
import { EmailAdvice } from '../core/plan/undo/email-advice.ts'
import { type LaterAttempt, LaterAttempts } from '../core/plan/undo/later-attempts.ts'
import { UndoDraft, type UndoFacts, type UndoSides } from '../core/plan/undo/undo-draft.ts'
import type { DoneChange } from '../store/plans.ts'
import type { Undo } from '../store/run-types.ts'
import { inTurns } from '../base/turns.ts'
import { carryOut, factsOf, type Memory, type Planned, type RunDeps, type RunEnd } from './run.ts'

export interface UndoDeps extends Omit<
  RunDeps,
  | 'only'
  | 'part'
  | 'options'
  | 'isAsked'
  | 'source'
  | 'preferredServer'
  | 'recallBaseline'
  | 'recallDeleted'
  | 'grace'
> {
  readonly undo: Undo
  /** The changes of the undone run, in order. */
  readonly doneChanges: () => AsyncIterable<readonly DoneChange[]>
  /** Creates and deletes of later runs, in order. */
  readonly laterAttempts: () => Promise<readonly LaterAttempt[]>
}

/** The source is the directory as it was before; guards and apply are the same. Deletes are always held. */
export async function runUndo(deps: UndoDeps, signal: AbortSignal): Promise<RunEnd> {
  await deps.settle(signal)
  const directory = await deps.readDirectory(signal, deps.table)
  await deps.enter('planning')
  const memory = await deps.recall()
  const later = new LaterAttempts(deps.undo.run, await deps.laterAttempts())
  const inputs = inputsOf(deps, directory, await wantedSides(deps, { directory, later }, signal))
  const plan = await withNoticesOfUndo(deps, await inTurns(planInSteps(inputs), signal), inputs, later)
  const breaches = await inTurns(guardsOf(deps, inputs, plan, memory), signal)
  const { approved } = memory
  const planned: Planned = {
    plan,
    source: inputs.source,
    directory,
    server: undefined,
    breaches,
    isHeld: deps.mode === 'sync' && !(await inTurns(isApproved(breaches, approved), signal)),
    approved,
    absent: NOBODY,
    emptied: NOBODY,
    waitingGroups: [],
    nesting: { ids: new Map(), strangers: new Map() },
    memberLists: new Map(),
    configurationChange: undefined,
  }
  return carryOut(deps, planned, signal)
}

const NOBODY = { user: [], group: [] }

async function wantedSides(
  { undo, rules, table, doneChanges }: UndoDeps,
  now: Pick<UndoFacts, 'directory' | 'later'>,
  signal: AbortSignal,
): Promise<UndoSides> {
  const draft = new UndoDraft({
    ...undo,
    ...now,
    users: new SourceUsers(table),
    writesMembers: rules.membership === 'write',
    selections: compileSelections(rules.entries),
  })
  for await (const some of doneChanges()) {
    signal.throwIfAborted()
    for (const { change, wasThere } of some) {
      if (wasThere) draft.addFound(change)
      else draft.add(change)
    }
  }
  return inTurns(draft.finish(), signal)
}

/** Lists, policy, decisions and quarantine are about what the sync takes from its source: an undo ignores them. */
function inputsOf(
  { rules }: UndoDeps,
  directory: DirectorySnapshot,
  { source, sightings }: UndoSides,
): PlanInputs {
  const { membership, emails } = rules
  return {
    source,
    directory: { ...directory, notices: [] },
    sightings,
    rules: {
      policy: 'mirror',
      membership: membership === 'write' ? 'write' : 'off',
      allowedDomains: [],
      ...(emails !== undefined && { emails }),
    },
    withheld: new Map(),
    whyDeleted: 'undone',
  }
}

const OF_SOURCE: ReadonlySet<NoticeCode> = new Set(['no-email', 'new-id', 'other-id-form'])

/** Notices about a source say nothing of what was in the directory before. */
async function withNoticesOfUndo(
  { undo, doneChanges }: UndoDeps,
  plan: Plan,
  { source, directory }: PlanInputs,
  later: LaterAttempts,
): Promise<Plan> {
  const notices = await inTurns(filterInSteps(plan.notices, ({ code }) => !OF_SOURCE.has(code)))
  const advice = new EmailAdvice({ ...undo, directory, later, users: source.users }, notices)
  if (advice.isAsked)
    for await (const some of doneChanges()) for (const { change } of some) advice.add(change)
  const told: Notice[] = []
  await inTurns(forEachInSteps(notices, (notice) => told.push(ofUndo(advice.of(notice), undo.run))))
  return { ...plan, notices: told }
}

/** What is true of a source or of the next run does not fit an undo. */
function ofUndo(notice: Notice, run: number): Notice {
  if (notice.code === 'id-moved') return { ...notice, params: { ...notice.params, undone: run } }
  if (notice.code === 'email-swap') return { ...notice, params: { ...notice.params, isUndo: true } }
  return notice
}

function* guardsOf(
  { undo, limits }: UndoDeps,
  inputs: PlanInputs,
  plan: Plan,
  memory: Memory,
): Steps<readonly Breach[]> {
  // The earlier directory is the source here, so it has not shrunk.
  const { seen } = inputs.source
  const facts: GuardFacts = {
    ...(yield* factsOf(inputs, plan, memory)),
    lastGood: { users: seen.user.size, groups: seen.group.size },
  }
  const guards = yield* checkGuards(plan, facts, limits)
  return [...guards, ...(yield* deletesOf(plan, undo.run))]
}

function* deletesOf({ changes }: Plan, run: number): Steps<readonly Breach[]> {
  const deletes: string[] = []
  yield* forEachInSteps(changes.headsOf('delete-user', 'delete-group'), ({ fingerprint }) =>
    deletes.push(fingerprint),
  )
  if (deletes.length === 0) return []
  const params = { run, users: changes.countOf('delete-user'), groups: changes.countOf('delete-group') }
  return [{ code: 'undo-deletes', params, changes: deletes }]
}
