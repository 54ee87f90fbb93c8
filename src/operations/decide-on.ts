import type { Kysely } from 'kysely'
import { cut } from '../base/wording.ts'
import { DirsyncdError } from '../base/errors.ts'
import type { RecordedBreach } from '../core/plan/decide.ts'
import { applyingRun, countApproved, decide, type NewDecision } from '../store/decisions.ts'
import { openHoldOf } from '../store/holds.ts'
import type { HoldState } from '../store/run-types.ts'
import { findRun, type RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import { requireInTime } from './approve-part.ts'
import { type DecisionRequest, holdBefore } from './control.ts'
import { decisionOn, decisionsText, requireSeen } from './decided.ts'
import { requireSameTarget } from './same-target.ts'

interface DecisionDeps {
  readonly db: Kysely<Tables>
  /** The target of each configured sync. */
  readonly targets: ReadonlyMap<string, string>
}

/** Records a decision about the hold of a run. Throws `run-unknown` or `usage` where it takes none. */
export async function decideOn(
  { db, targets }: DecisionDeps,
  number: number,
  { seen, ...decision }: NewDecision & Pick<DecisionRequest, 'seen'>,
): Promise<RunRecord> {
  const asked = await findRun(db, number)
  if (asked === undefined)
    throw new DirsyncdError('run-unknown', `There is no run ${number}; see \`dirsyncd runs\`.`)
  return decide(db, number, decision, async (trx, run, breaches) => {
    const known = seen ?? asked.hold
    requireSeen(run, known)
    requireInTime(run)
    if (run.hold === 'open' || run.hold === 'rejected') requireSameTarget(run, targets, 'be decided about')
    await requireHold(trx, run, decision, known)
    requireWholeUndo(run, decision)
    requireWhole(run, decision)
    requireNames(run, decision, breaches)
  })
}

/**
 * The run's hold waits for a decision. What was rejected may still be approved, or nobody could ever apply it.
 *
 * @param known how the hold was when the person looked at it
 */
async function requireHold(
  db: Kysely<Tables>,
  run: RunRecord,
  { decision }: NewDecision,
  known: HoldState | null,
): Promise<void> {
  if (run.hold === 'open' || (run.hold === 'rejected' && decision === 'approved')) return
  const isDecided = run.hold === 'approved' || run.hold === 'rejected'
  const around = {
    awaits: isDecided && (await countApproved(db, run.run)) > 0,
    applying: isDecided ? await applyingRun(db, run.run) : undefined,
  }
  // Whoever was wrong, and knows of the approval, can take it back before it is done; an undo puts back what it reads
  // anew.
  const isSeen = run.hold === 'approved' && known === 'approved'
  const isOpenStill = isSeen && around.awaits && around.applying === undefined
  if (isOpenStill && decision === 'rejected' && run.undo === null) return
  const why = isDecided ? whoDecided(run, around) : whyNoHold(run, await openHoldOf(db, run.sync))
  throw new DirsyncdError('run-unknown', `Run ${run.run} has no open hold: ${why}.`)
}

/** A run that puts back plans all of the undo anew, and would not leave out what was rejected. */
function requireWholeUndo({ run, undo }: RunRecord, { decision, only }: NewDecision): void {
  if (undo === null || only === undefined) return
  const what = decision === 'approved' ? 'approve' : 'reject'
  throw new DirsyncdError(
    'usage',
    `Run ${run} is an undo: ${what} it as a whole, or undo a part with the options of dirsyncd undo ${undo.run}.`,
  )
}

/** Which guard an approved change was held by is not kept. */
function requireWhole({ run, hold }: RunRecord, { only }: NewDecision): void {
  if (hold !== 'approved' || only === undefined) return
  throw new DirsyncdError(
    'usage',
    `Run ${run} was approved: reject what of it is not applied yet as a whole.`,
  )
}

function requireNames(
  { run, decisions }: RunRecord,
  { decision, only }: NewDecision,
  breaches: readonly RecordedBreach[],
): void {
  const names = new Set(breaches.map(({ guard }) => guard))
  const unknown = only?.filter((name) => !names.has(name)) ?? []
  if (unknown.length === 0) return
  const what = decision === 'approved' ? 'approve' : 'reject'
  const before = unknown.map((name) => decisionOn(decisions, name))
  const isDecided = !before.includes(undefined)
  const why = isDecided ? `, because it was ${before[0]}` : ''
  throw new DirsyncdError(
    isDecided ? 'run-unknown' : 'usage',
    `Run ${run} has nothing called ${unknown.map(cut).join(' or ')} to ${what}${why}; it has ${[...names].join(', ')}.`,
  )
}

/** What is so beside a hold that was decided about. */
interface Around {
  /** Whether something of it that was approved is not applied yet. */
  readonly awaits: boolean
  /** The run that applies it, until that has ended. */
  readonly applying: number | undefined
}

/** Somebody else was quicker: who it was, when and what he decided. */
function whoDecided({ run, hold, undo, decisions }: RunRecord, { awaits, applying }: Around): string {
  const decided = `it was ${decisionsText(decisions) ?? `${hold} before`}`
  if (hold !== 'approved') return decided
  if (applying !== undefined) return `${decided}; run ${applying} applies it`
  if (undo !== null) return `${decided}; dirsyncd undo ${undo.run} shows what is not put back yet`
  return awaits
    ? `${decided}; what of it is not applied yet is for the next run, unless \`dirsyncd reject ${run}\` takes it back`
    : decided
}

/** @param open the run of the sync that has the open hold */
function whyNoHold(run: RunRecord, open: number | undefined): string {
  const first = holdBefore({ ...run, holdRun: run.hold_run })
  if (first !== undefined) return `the hold of run ${first} comes first, which is of the whole sync`
  if (run.hold_run !== null && run.hold_run !== run.run)
    return `it shares the hold of run ${run.hold_run}; see dirsyncd runs ${run.hold_run}`
  const decided = decisionsText(run.decisions)
  const before = decided === undefined ? '' : `it was ${decided}; then `
  return `${before}${howItEnded(run, open)}`
}

function howItEnded({ state, hold, undo }: RunRecord, open: number | undefined): string {
  if (undo !== null && (hold === 'closed' || hold === 'replaced'))
    return `a later run ended it; dirsyncd undo ${undo.run} shows what can be put back now`
  if (hold === 'replaced')
    return open === undefined
      ? 'a newer run took its place; `dirsyncd runs` shows what waits now'
      : `run ${open} took its place, so dirsyncd runs ${open} shows what waits now`
  if (hold === 'closed') return 'a newer run had nothing to hold'
  if (hold === 'expired') return 'it expired, because nobody decided in time; see `dirsyncd runs`'
  return `it is ${state}`
}
