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
  readonly targets: ReadonlyMap<string, string>
}

/** Throws `run-unknown`, or `usage` where the run takes no decision. */
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
 * Throws unless the hold is open. A rejected hold may still be approved, or its changes could never be applied.
 *
 * @param known the hold as the operator saw it
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
  // An operator who knows of the approval can take it back until it is applied. An undo reads anew.
  const isSeen = run.hold === 'approved' && known === 'approved'
  const isOpenStill = isSeen && around.awaits && around.applying === undefined
  if (isOpenStill && decision === 'rejected' && run.undo === null) return
  const why = isDecided ? whoDecided(run, around) : whyNoHold(run, await openHoldOf(db, run.sync))
  throw new DirsyncdError('run-unknown', `Run ${run.run} has no open hold: ${why}.`)
}

/** A run that undoes plans all of it anew, and would not leave out what was rejected. */
function requireWholeUndo({ run, undo }: RunRecord, { decision, only }: NewDecision): void {
  if (undo === null || only === undefined) return
  const what = decision === 'approved' ? 'approve' : 'reject'
  throw new DirsyncdError(
    'usage',
    `Run ${run} is an undo: ${what} it as a whole, or undo a part with the options of dirsyncd undo ${undo.run}.`,
  )
}

/** The store does not keep which guard held an approved change. */
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
  const names = new Set(breaches.map<string>(({ code }) => code))
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

interface Around {
  /** Whether some approved changes are not applied yet. */
  readonly awaits: boolean
  /** The run that applies them, until it has ended. */
  readonly applying: number | undefined
}

/** Another operator was quicker: the name, the time and the decision. */
function whoDecided({ run, hold, undo, decisions }: RunRecord, { awaits, applying }: Around): string {
  const decided = `it was ${decisionsText(decisions) ?? `${hold} before`}`
  if (hold !== 'approved') return decided
  if (applying !== undefined) return `${decided}; run ${applying} applies it`
  if (undo !== null) return `${decided}; dirsyncd undo ${undo.run} shows what is not put back yet`
  return awaits
    ? `${decided}; what of it is not applied yet is for the next run, unless \`dirsyncd reject ${run}\` takes it back`
    : decided
}

/** @param open the run with the sync's open hold */
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
