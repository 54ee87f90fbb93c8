import type { Kysely } from 'kysely'
import { cut, examples, pointInTime } from '../base/wording.ts'
import { DirsyncdError } from '../base/errors.ts'
import { approvePart } from '../store/part-decisions.ts'
import { pauseOfSync } from '../store/paused-syncs.ts'
import { findRun, type NewRun, type RunRecord } from '../store/runs.ts'
import type { Part } from '../core/plan/part/part.ts'
import type { Tables } from '../store/tables.ts'
import { type ApproveRequest, pauseText } from './control.ts'
import { pauseView } from './paused.ts'
import { decisionsText, requireSeen } from './decided.ts'
import { requireSameTarget } from './same-target.ts'

export interface ApprovalDeps {
  readonly db: Kysely<Tables>
  readonly request: (sync: string, run: Omit<NewRun, 'sync' | 'target'>) => Promise<number>
}

interface PartDeps extends ApprovalDeps {
  /** Of each configured sync. */
  readonly targets: ReadonlyMap<string, string>
}

/**
 * See `Control.approve`. One run applies the part and the next one holds the rest; the rest of a rejected plan stays
 * rejected.
 */
export async function approvePartOf(
  { db, targets, request }: PartDeps,
  { run: number, by, reason, seen }: ApproveRequest,
  part: Part,
): Promise<RunRecord> {
  const before = await findRun(db, number)
  if (before === undefined)
    throw new DirsyncdError('run-unknown', `There is no run ${number}; see \`dirsyncd runs\`.`)
  requireSameTarget(before, targets, 'be decided about')
  requireNoUndo(before)
  requireSeen(before, seen ?? before.hold)
  requirePlanOnHold(before)
  const pause = await pauseOfSync(db, before.sync)
  if (pause !== undefined)
    throw new DirsyncdError(
      'sync-paused',
      `${pauseText(pauseView(pause))}. Nothing was decided: a part is applied at once, so resume the sync first.`,
    )
  const { named, unknown } = await approvePart(db, number, { by, reason, part }, (run) => {
    requireSeen(run, seen ?? before.hold)
    requirePlanOnHold(run)
  })
  if (named === 0) throw new DirsyncdError('usage', noSuchChange(before, unknown))
  const approved = { mode: 'sync', trigger: 'approval', approvalOf: number } as const
  await request(before.sync, { ...approved, part })
  if (before.hold === 'open') await request(before.sync, approved)
  return (await findRun(db, number))!
}

const IDS_NAMED = 20

function noSuchChange({ run, hold }: RunRecord, ids: readonly string[]): string {
  const whose = ids.length === 0 ? '' : ` of ${examples(ids.map(cut), ids.length, IDS_NAMED)}`
  const what =
    hold === 'open'
      ? `Run ${run} holds no such change${whose}`
      : `No such change${whose} of run ${run} is rejected (members of a group are by the id of the group)`
  return `${what}, so nothing was decided; dirsyncd runs ${run} --all shows them.`
}

function requireNoUndo({ run, undo, hold }: RunRecord): void {
  if (undo === null || hold === null) return
  throw new DirsyncdError(
    'usage',
    `Run ${run} is an undo${hold === 'open' ? ': approve it as a whole, or' : ' whose hold is over:'} undo a part with the options of dirsyncd undo ${undo.run}.`,
  )
}

/** Throws unless guards hold the whole plan of this run, or the operator rejected it. */
function requirePlanOnHold(run: RunRecord): void {
  requireInTime(run)
  const { run: number, state, hold, hold_run: holder, decisions } = run
  if (state === 'held' && (hold === 'open' || hold === 'rejected')) return
  const where = holder !== null && holder !== number ? `; it waits for the hold of run ${holder}` : ''
  const decided = decisionsText(decisions)
  const before = decided === undefined ? '' : `; it was ${decided}`
  throw new DirsyncdError(
    'run-unknown',
    `Run ${number} has no plan on hold, so there is no part of it to approve${where}${before}.`,
  )
}

/** Too old to decide about: what it holds may look quite different by now. */
export function isExpired({
  hold,
  hold_expires_at: end,
}: Pick<RunRecord, 'hold' | 'hold_expires_at'>): boolean {
  return hold === 'open' && end !== null && end.getTime() <= Date.now()
}

export function requireInTime(run: RunRecord): void {
  if (!isExpired(run) || run.hold_expires_at === null) return
  const since = pointInTime(run.hold_expires_at.toISOString())
  const again = run.undo === null ? `dirsyncd sync ${run.sync}` : `dirsyncd undo ${run.undo.run}`
  throw new DirsyncdError(
    'run-unknown',
    `The hold of run ${run.run} expired at ${since}; ${again} shows what would be held now.`,
  )
}
