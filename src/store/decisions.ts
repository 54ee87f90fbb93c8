import type { Rejection } from '../core/notice.ts'
import { type Kysely, sql } from 'kysely'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import {
  choices,
  decidedChanges,
  type Decision,
  holdAfter,
  type RecordedBreach,
} from '../core/plan/decide.ts'
import { byCodeUnit } from '../base/order.ts'
import { approveForms, formsOf } from './forget-decisions.ts'
import { dropHeldChanges, heldBreaches, heldRows, storeHeldChanges, summaries } from './held-changes.ts'
import type { HoldState, RecordedDecision, RunState, SyncTarget, Undo } from './run-types.ts'
import { storableJson } from './storable.ts'
import type { RunRecord } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** What people decided about held changes, by fingerprint. */
export interface Decisions {
  readonly approved: ReadonlySet<string>
  readonly rejected: ReadonlyMap<string, Rejection>
}

/** A decision, and who makes it: about all breaches that wait for one, or only about those of the guards in `only`. */
export interface NewDecision {
  readonly decision: Decision
  readonly by: string
  readonly reason?: string | undefined
  readonly only?: readonly string[] | undefined
}

/**
 * Records a person's decision about what a run holds, and ends the hold when nothing of it is undecided. Returns the
 * run as it is then.
 *
 * @param check throws where this run takes no such decision; it gets the locked run and the breaches that can be
 *   decided about
 */
export async function decide(
  db: Db,
  number: number,
  { decision, by, only, reason }: NewDecision,
  check: (trx: Db, run: RunRecord, breaches: readonly RecordedBreach[]) => Promise<void>,
): Promise<RunRecord> {
  return db.transaction().execute(async (trx) => {
    const run = await lockRun(trx, number)
    const before = { ...run, breaches: await breachesOf(trx, run, decision) }
    const possible = choices(before, decision, only !== undefined)
    await check(trx, run, possible)
    const chosen = possible.filter(({ code }) => only?.includes(code) ?? true)
    await recordDecision(trx, run, { decision, by }, await inTurns(decidedChanges(before, decision, chosen)))
    // Whoever rejects a plan as a whole has decided on what another one left out of it.
    if (decision === 'rejected' && only === undefined) await forgetLeftOut(trx, run)
    if (run.hold === 'approved') await storeHeldChanges(trx, run.run, await inTurns(heldRows(chosen)))
    const breaches = before.breaches.map((breach) =>
      chosen.includes(breach) ? { ...breach, decided: decision } : breach,
    )
    const { approved, rejected } = await decisionsOf(trx, { ...run, isUndo: run.undo !== null })
    const isDecided = (print: string) => approved.has(print) || rejected.has(print)
    const hold = await inTurns(holdAfter({ ...run, breaches }, isDecided))
    // What was rejected may still be approved.
    if (hold === 'approved') await dropHeldChanges(trx, run.run)
    const kept = summaries(breaches)
    await trx
      .updateTable('dirsyncd.runs')
      .set({ hold, breaches: JSON.stringify(kept), decisions: withDecision({ decision, by, only, reason }) })
      .where('run', '=', run.run)
      .execute()
    return lockRun(trx, run.run)
  })
}

/**
 * The breaches of a run with the changes that they name. Of an approved hold these are not kept, only which of them
 * still wait to be applied: each breach names them all.
 */
async function breachesOf(trx: Db, run: RunRecord, decision: Decision): Promise<readonly RecordedBreach[]> {
  if (run.hold !== 'approved' || decision !== 'rejected')
    return heldBreaches(trx, run.run, run.breaches ?? [])
  const changes = [...(await approvedIn(trx, run.run))].toSorted(byCodeUnit)
  return (run.breaches ?? []).map((breach) => ({ ...breach, changes }))
}

async function forgetLeftOut(trx: Db, { run, sync, target }: RunRecord): Promise<void> {
  await sql`DELETE FROM dirsyncd.decisions WHERE sync = ${sync} AND target = ${target} AND run = ${run}
    AND decision = 'left-out'`.execute(trx)
}

/** The decisions of a run with one more. */
export function withDecision(decided: Omit<RecordedDecision, 'at'>) {
  return sql<string>`decisions || jsonb_build_array(${storableJson(decided)}::jsonb
    || jsonb_build_object('at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`
}

/**
 * Whoever decides about all of a hold leaves to others what they decided in the same way before. An approval of an older
 * hold does not overrule what was rejected in a newer one.
 */
export const INSTEAD_OF_EARLIER = sql`ON CONFLICT (sync, target, fingerprint) DO UPDATE
  SET decision = excluded.decision, run = excluded.run, decided_at = now(), decided_by =
    CASE WHEN (d.decision, d.run) = (excluded.decision, excluded.run) THEN d.decided_by ELSE excluded.decided_by END
  WHERE excluded.decision = 'rejected' OR d.decision <> 'rejected' OR d.run <= excluded.run`

export function lockRun(trx: Db, number: number): Promise<RunRecord> {
  return trx
    .selectFrom('dirsyncd.runs')
    .selectAll()
    .where('run', '=', number)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

async function recordDecision(
  db: Db,
  run: RunRecord,
  { decision, by }: NewDecision,
  fingerprints: readonly string[],
): Promise<void> {
  const { sync, target, run: number } = run
  const prints =
    decision === 'rejected' ? [...fingerprints, ...(await formsOf(db, number, fingerprints))] : fingerprints
  await sql`INSERT INTO dirsyncd.decisions AS d (sync, target, fingerprint, decision, run, decided_by)
    SELECT DISTINCT ${sync}, ${target}, fingerprint, ${decision}, ${number}::integer, ${by}
    FROM unnest(${prints}::text[]) AS fingerprint ${INSTEAD_OF_EARLIER}`.execute(db)
  if (decision === 'approved') await approveForms(db, run, fingerprints, by)
}

/** What was decided about the holds of undos, or about those of all other runs: the one says nothing about the other. */
export async function decisionsOf(
  db: Db,
  { sync, target, isUndo }: SyncTarget & { readonly isUndo: boolean },
): Promise<Decisions> {
  const rows = await db
    .selectFrom('dirsyncd.decisions as d')
    .leftJoin('dirsyncd.runs as r', 'r.run', 'd.run')
    .select([
      'd.fingerprint',
      'd.decision',
      'd.run',
      'd.decided_by',
      'd.decided_at',
      'r.hold',
      'r.state',
      'r.undo',
    ])
    .where('d.sync', '=', sync)
    .where('d.target', '=', target)
    .where('r.undo', isUndo ? 'is not' : 'is', null)
    .execute()
  const approved = new Set<string>()
  const rejected = new Map<string, Rejection>()
  const decided = forEachInSteps(rows, (row) => {
    if (row.decision === 'approved') approved.add(row.fingerprint)
    if (row.decision === 'rejected')
      rejected.set(row.fingerprint, {
        by: row.decided_by,
        at: row.decided_at.toISOString(),
        run: row.run,
        release: releaseOf(row),
      })
  })
  await inTurns(decided)
  return { approved, rejected }
}

/** The fingerprints of what was approved in the hold of this run. */
export async function approvedIn(db: Db, run: number | null): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('dirsyncd.decisions')
    .select('fingerprint')
    .where('run', '=', run)
    .where('decision', '=', 'approved')
    .execute()
  return new Set(rows.map(({ fingerprint }) => fingerprint))
}

/** How many changes that were approved in this run's hold still wait to be applied. */
export async function countApproved(db: Db, run: number): Promise<number> {
  const counted = db.selectFrom('dirsyncd.decisions').select(({ fn }) => fn.countAll<string>().as('count'))
  const row = await counted.where('run', '=', run).where('decision', '=', 'approved').executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** The run that applies what was approved in this run's hold, until that has ended. */
export async function applyingRun(db: Db, run: number): Promise<number | undefined> {
  const query = db.selectFrom('dirsyncd.runs').select('run').where('approval_of', '=', run)
  return (await query.where('finished_at', 'is', null).orderBy('run').limit(1).executeTakeFirst())?.run
}

/** The runs of a person's approvals of this run's hold, the first one first. */
export async function approvalRunsOf(db: Db, run: number): Promise<readonly number[]> {
  const rows = await db
    .selectFrom('dirsyncd.runs')
    .select('run')
    .where('approval_of', '=', run)
    .orderBy('run')
    .execute()
  return rows.map((row) => row.run)
}

/**
 * A hold that a newer run ended takes no decision any more: what was rejected there stays rejected until it changes. A
 * hold often has many changes, so a person is told how to release one alone.
 */
function releaseOf({
  hold,
  state,
  undo,
}: {
  readonly hold: HoldState | null
  readonly state: RunState | null
  readonly undo: Undo | null
}): Rejection['release'] {
  if (hold !== 'open' && hold !== 'rejected') return null
  if (undo === null && state === 'held') return 'alone'
  return hold === 'open' ? 'by-name' : 'whole'
}
