import { sql } from 'kysely'
import type { KeyFacts } from '../core/block.ts'
import type { Refusal } from '../core/checks/check.ts'
import type { Op } from '../core/plan/change.ts'
import { journalRows } from './journal.ts'
import type { SyncTarget } from './run-types.ts'
import { IS_OF_ALL } from './runs.ts'
import type { Db } from './tables.ts'

/** A change that was sent. */
interface Write {
  readonly op: Op
  readonly id: string
  readonly digest: string
}

/**
 * Changes that were made twice in a row within the last day, and that no run has seen in the directory since. A first
 * run may create a million entries, so creates count only where the next run did not see the entry.
 *
 * @param ids the only entries that are asked about
 */
export async function unconverged(
  db: Db,
  of: SyncTarget,
  ids?: readonly string[],
): Promise<readonly Refusal[]> {
  const { rows } = await sql<Write & KeyFacts['not-persisted']>`
    SELECT op, entry_id AS id, fingerprint AS digest, how
    FROM (${writtenTwice(of, ids)}) AS twice`.execute(db)
  return rows.map(({ how, ...write }) => ({ ...write, code: 'not-persisted', params: { how } }))
}

/** The writes that no run has seen in the directory yet. */
export async function openWritesOf(db: Db, of: SyncTarget): Promise<readonly Write[]> {
  const { rows } = await sql<Write>`SELECT DISTINCT op, entry_id AS id, fingerprint AS digest
    FROM (${openWrites(of)}) AS open`.execute(db)
  return rows
}

/**
 * After a read of source and directory: a write whose change is no longer wanted had its effect. It counts no more, even if
 * somebody else changes the entry later.
 *
 * @param wanted the digests of the open writes whose change is still a difference, also where it is blocked
 */
export async function settleWrites(db: Db, of: SyncTarget, wanted: readonly string[]): Promise<void> {
  await sql`UPDATE dirsyncd.journal SET settled = true
    WHERE sync = ${of.sync} AND target = ${of.target} AND intent_at > now() - interval '24 hours' AND NOT settled
      AND id IN (SELECT id FROM (${openWrites(of)}) AS open
        WHERE fingerprint <> ALL(${wanted}::text[]))`.execute(db)
}

/**
 * Entries that a run marks at most: 10,000 take an embedded store a second. Where more are missing, it is the directory
 * that has lost them, and not its service.
 */
const MOST_MISSED = 10_000

/**
 * Once a plan is stored: whether it creates entries that were created within the last day, so that the list of the
 * directory lacks them. Marks those that the run before it, or one of single entries since, has created.
 */
export async function noteMissedCreates(
  db: Db,
  { sync, target, run }: SyncTarget & { readonly run: number },
): Promise<boolean> {
  // PostgreSQL has no statistics of the plan yet, and would compare each of its rows with the whole journal.
  await sql`SET LOCAL enable_nestloop = off`.execute(db)
  const { rows } = await sql`WITH missed AS MATERIALIZED (
      SELECT j.id, j.run >= (SELECT max(run) FROM dirsyncd.runs
        WHERE sync = ${sync} AND target = ${target} AND run < ${run} AND mode = 'sync' AND ${IS_OF_ALL}
          AND counts IS NOT NULL) AS "isRecent"
      FROM dirsyncd.changes AS c JOIN dirsyncd.journal AS j ON j.op = c.op AND j.entry_id = c.entry_id
      WHERE c.run = ${run} AND c.op LIKE 'create-%'
        AND j.sync = ${sync} AND j.target = ${target} AND j.intent_at > now() - interval '24 hours'
        AND j.run < ${run} AND ${isCreated}
      ORDER BY j.id DESC
      LIMIT ${MOST_MISSED}
    ), marked AS (
      UPDATE dirsyncd.journal AS j SET missed = true FROM missed
      WHERE j.sync = ${sync} AND j.target = ${target} AND j.intent_at > now() - interval '24 hours'
        AND j.id = missed.id AND missed."isRecent"
    )
    SELECT FROM missed LIMIT 1`.execute(db)
  await sql`SET LOCAL enable_nestloop = on`.execute(db)
  return rows.length > 0
}

/** The changes of a run say nothing about its entries any more: an undo put them back, or the service failed all of an operation. */
export async function settleRun(db: Db, run: number, op?: Op): Promise<void> {
  const ofOp = op === undefined ? sql`true` : sql`op = ${op}`
  await sql`UPDATE dirsyncd.journal SET settled = true WHERE run = ${run} AND ${ofOp}`.execute(db)
}

/** Puts changes that are not persisted into quarantine. Only later writes of them count again. */
export async function quarantineUnconverged(
  db: Db,
  { sync, target }: SyncTarget,
  digests: readonly string[],
): Promise<void> {
  if (digests.length === 0) return
  await sql`
    WITH twice AS (
      SELECT * FROM (${writtenTwice({ sync, target })}) AS twice WHERE fingerprint = ANY(${digests}::text[])
    ), settled AS (
      UPDATE dirsyncd.journal SET settled = true
      WHERE sync = ${sync} AND target = ${target} AND fingerprint IN (SELECT fingerprint FROM twice)
    )
    INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, code, params, tried_at)
    SELECT ${sync}, ${target}, fingerprint, op, entry_id, 'not-persisted', jsonb_build_object('how', how), tried_at
    FROM twice
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET code = EXCLUDED.code, params = EXCLUDED.params, tried_at = EXCLUDED.tried_at`.execute(db)
}

/** The newest two writes to an entry with one operation, where both did the same. */
function writtenTwice(of: SyncTarget, ids?: readonly string[]) {
  return sql`SELECT min(fingerprint) AS fingerprint, op, entry_id, max(intent_at) AS tried_at, CASE
      WHEN op LIKE 'create-%' AND bool_or(outcome = 'found') THEN 'not-listed'
      WHEN op LIKE 'create-%' THEN 'not-kept'
      WHEN bool_and(outcome <> 'applied') THEN 'missing-but-listed'
      WHEN op LIKE 'delete-%' THEN 'not-deleted'
      ELSE 'not-changed' END AS how
    FROM (
      SELECT *, row_number() OVER (PARTITION BY op, entry_id ORDER BY id DESC) AS place FROM (${openWrites(of, ids)}) AS open
    ) AS recent
    WHERE place <= 2
    GROUP BY op, entry_id
    HAVING count(*) = 2 AND count(DISTINCT fingerprint) = 1`
}

/**
 * Writes that no run has seen in the directory yet, and deletes of what the service says it does not have. Of creates
 * only those of entries that a run has missed.
 */
function openWrites({ sync, target }: SyncTarget, ids?: readonly string[]) {
  return sql`SELECT id, op, entry_id, fingerprint, outcome, intent_at FROM ${journalRows(ids)} AS j
    WHERE sync = ${sync} AND target = ${target} AND NOT settled AND intent_at > now() - interval '24 hours'
      AND CASE WHEN op LIKE 'create-%' THEN ${isCreated} AND (op, entry_id) IN (
          SELECT op, entry_id FROM dirsyncd.journal
          WHERE sync = ${sync} AND target = ${target} AND missed AND NOT settled)
        ELSE outcome = 'applied' OR (outcome IN ('already', 'found') AND op LIKE 'delete-%') END`
}

/** Whether the service says of a create `j` that it did it. */
const isCreated = sql`(j.outcome IN ('applied', 'found') OR j.outcome = 'failed' AND j.status BETWEEN 200 AND 299)`
