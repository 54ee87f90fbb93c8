import type { DirectorySnapshot, Notice, NoticeCode } from '../directory/snapshot.ts'
import type { Steps } from '../directory/steps.ts'
import { SourceUsers } from '../directory/users.ts'
import { amount } from '../directory/wording.ts'
import type { Plan } from '../plan/changes.ts'
import { type Breach, checkGuards, type GuardFacts, isApproved } from '../plan/guards.ts'
import type { PlanInputs } from '../plan/inputs.ts'
import { planInSteps } from '../plan/plan.ts'
import { compileSelections } from '../plan/selection.ts'
import { EmailAdvice } from '../plan/undo/email-advice.ts'
import { type LaterAttempt, LaterAttempts } from '../plan/undo/later-attempts.ts'
import { UndoDraft, type UndoFacts, type UndoSides } from '../plan/undo/undo-draft.ts'
import type { DoneChange } from '../store/plans.ts'
import type { Undo } from '../store/run-types.ts'
import { inTurns } from '../turns.ts'
import {
  carryOut,
  doubtIfShort,
  factsOf,
  type Memory,
  type Planned,
  type RunDeps,
  type RunEnd,
} from './run.ts'

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
  /** What the run that is undone did, in its order. */
  readonly doneChanges: () => AsyncIterable<readonly DoneChange[]>
  /** What later runs created and deleted, in their order. */
  readonly laterAttempts: () => Promise<readonly LaterAttempt[]>
}

/**
 * Puts back what an earlier run did: a plan whose source is the directory as it was before, with the same guards and
 * the same way to apply it. Its deletes are always held.
 */
export async function runUndo(deps: UndoDeps, signal: AbortSignal): Promise<RunEnd> {
  await deps.settle(signal)
  const listed = await deps.readDirectory(signal, deps.table)
  await deps.enter('planning')
  const memory = await deps.recall()
  const directory = doubtIfShort(listed, memory)
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
    isHeld: deps.mode === 'sync' && !isApproved(breaches, approved),
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

/**
 * The lists and the policy say what the sync carries over from its source, and decisions and quarantine what it leaves
 * alone of that: an undo does not ask them.
 */
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

/** What is noticed of a source says nothing of what was in the directory before. */
async function withNoticesOfUndo(
  { undo, doneChanges }: UndoDeps,
  plan: Plan,
  { source, directory }: PlanInputs,
  later: LaterAttempts,
): Promise<Plan> {
  const notices = plan.notices.filter(({ code }) => !OF_SOURCE.has(code))
  const advice = new EmailAdvice({ ...undo, directory, later, users: source.users }, notices)
  if (advice.isAsked)
    for await (const some of doneChanges()) for (const { change } of some) advice.add(change)
  return { ...plan, notices: notices.map((notice) => ofUndo(advice.tell(notice), undo.run)) }
}

/** What is said of a source, and of the next run, is not so of an undo. */
function ofUndo(notice: Notice, run: number): Notice {
  const { code, detail } = notice
  if (code === 'id-moved')
    return {
      ...notice,
      detail: detail.replace(
        / and is (.*) in the source \(.*$/s,
        ` and becomes $1 again, as before run ${run}`,
      ),
    }
  if (code === 'email-swap')
    return {
      ...notice,
      detail: detail.replace(
        /\. If the service refuses this, .*$/s,
        '. If the service refuses this, because it allows each e-mail only once, give them their e-mails back in the service',
      ),
    }
  return notice
}

function* guardsOf(
  { undo, limits }: UndoDeps,
  inputs: PlanInputs,
  plan: Plan,
  memory: Memory,
): Steps<readonly Breach[]> {
  // What the directory shall be is what it was, so it has shrunk against nothing.
  const { seen } = inputs.source
  const facts: GuardFacts = {
    ...factsOf(inputs, plan, memory),
    lastGood: { users: seen.user.size, groups: seen.group.size },
  }
  const guards = yield* checkGuards(plan, facts, limits)
  return [...guards, ...deletesOf(plan, undo.run)]
}

function deletesOf({ changes }: Plan, run: number): readonly Breach[] {
  const deletes = Array.from(changes.headsOf('delete-user', 'delete-group'), ({ fingerprint }) => fingerprint)
  if (deletes.length === 0) return []
  const what = [
    ...(changes.countOf('delete-user') > 0 ? [amount(changes.countOf('delete-user'), 'user')] : []),
    ...(changes.countOf('delete-group') > 0 ? [amount(changes.countOf('delete-group'), 'group')] : []),
  ]
  const detail = `${what.join(' and ')} that run ${run} created would be deleted again`
  return [{ guard: 'undo-deletes', detail, changes: deletes }]
}
