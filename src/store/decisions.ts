import { type Kysely, type Selectable, sql } from 'kysely'
import { choices, decidedChanges, type Decision, holdAfter, type RecordedBreach } from '../plan/decide.ts'
import { dropHeldChanges, heldBreaches, summaries } from './held-changes.ts'
import type { RunsTable, Tables } from './tables.ts'

type Db = Kysely<Tables>

type RunRecord = Selectable<RunsTable>

/** What people decided about held changes, by fingerprint. */
export interface Decisions {
  readonly approved: ReadonlySet<string>
  readonly rejected: ReadonlyMap<string, string>
}

/** A decision, and who makes it: about all breaches that wait for one, or only about those of the guards in `only`. */
export interface NewDecision {
  readonly decision: Decision
  readonly by: string
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
  { decision, by, only }: NewDecision,
  check: (run: RunRecord, breaches: readonly RecordedBreach[]) => void,
): Promise<RunRecord> {
  return db.transaction().execute(async (trx) => {
    const run = await trx
      .selectFrom('dirsyncd.runs')
      .selectAll()
      .where('run', '=', number)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const before = { ...run, breaches: await heldBreaches(trx, number, run.breaches ?? []) }
    const possible = choices(before, decision, only !== undefined)
    check(run, possible)
    const chosen = possible.filter(({ guard }) => only?.includes(guard) ?? true)
    await recordDecision(trx, run, { decision, by }, decidedChanges(before, decision, chosen))
    const breaches = before.breaches.map((breach) =>
      chosen.includes(breach) ? { ...breach, decided: decision } : breach,
    )
    const { approved, rejected } = await decisionsOf(trx, run.sync, run.target)
    const hold = holdAfter({ ...run, breaches }, (print) => approved.has(print) || rejected.has(print))
    // What was rejected may still be approved.
    if (hold === 'approved') await dropHeldChanges(trx, run.run)
    const kept = summaries(breaches)
    await trx
      .updateTable('dirsyncd.runs')
      .set({ hold, breaches: JSON.stringify(kept) })
      .where('run', '=', run.run)
      .execute()
    return { ...run, hold, breaches: kept }
  })
}

async function recordDecision(
  db: Db,
  { sync, target, run }: RunRecord,
  { decision, by }: NewDecision,
  fingerprints: readonly string[],
): Promise<void> {
  await sql`INSERT INTO dirsyncd.decisions (sync, target, fingerprint, decision, run, decided_by)
    SELECT ${sync}, ${target}, fingerprint, ${decision}, ${run}, ${by}
    FROM unnest(${fingerprints}::text[]) AS fingerprint
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET decision = excluded.decision, run = excluded.run, decided_by = excluded.decided_by, decided_at = now()`.execute(
    db,
  )
}

export async function decisionsOf(db: Db, sync: string, target: string): Promise<Decisions> {
  const rows = await db
    .selectFrom('dirsyncd.decisions as d')
    .leftJoin('dirsyncd.runs as r', 'r.run', 'd.run')
    .select(['d.fingerprint', 'd.decision', 'd.run', 'd.decided_by', 'r.hold'])
    .where('d.sync', '=', sync)
    .where('d.target', '=', target)
    .execute()
  const approved = new Set<string>()
  const rejected = new Map<string, string>()
  for (const row of rows) {
    if (row.decision === 'approved') approved.add(row.fingerprint)
    else
      rejected.set(
        row.fingerprint,
        `rejected by ${row.decided_by} in the hold of run ${row.run}${whatReleases(row)}`,
      )
  }
  return { approved, rejected }
}

/** Whether changes that were approved in this run's hold still wait to be applied. */
export async function awaitsApplying(db: Db, run: number): Promise<boolean> {
  const query = db.selectFrom('dirsyncd.decisions').select('run').where('run', '=', run)
  return (await query.where('decision', '=', 'approved').limit(1).executeTakeFirst()) !== undefined
}

/**
 * A hold that a newer run ended takes no decision any more: what was rejected there stays rejected until it changes.
 */
function whatReleases({ run, hold }: { readonly run: number; readonly hold: string | null }): string {
  if (hold === 'rejected') return `; dirsyncd approve ${run} releases it`
  if (hold === 'open') return `; dirsyncd approve ${run} --only NAME releases it`
  return ''
}

/**
 * Forgets all decisions but those about these changes: a decision ends when its change is applied or no longer wanted.
 */
export async function forgetOtherDecisions(
  db: Db,
  sync: string,
  target: string,
  fingerprints: readonly string[],
): Promise<void> {
  await sql`DELETE FROM dirsyncd.decisions WHERE sync = ${sync} AND target = ${target}
    AND fingerprint <> ALL(${fingerprints}::text[])`.execute(db)
}
