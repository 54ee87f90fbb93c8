import { type Kysely, sql } from 'kysely'
import { heldChanges, undecided } from '../plan/guards.ts'
import type { RunRecord } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** What people decided about held changes, by fingerprint. */
export interface Decisions {
  readonly approved: ReadonlySet<string>
  readonly rejected: ReadonlyMap<string, string>
}

/** Records a person's decision about everything that a hold holds, and ends the hold. */
export async function decide(
  db: Db,
  run: RunRecord,
  decision: 'approved' | 'rejected',
  by: string,
): Promise<void> {
  const fingerprints = heldChanges(undecided(run.state, run.breaches ?? []))
  await db.transaction().execute(async (trx) => {
    await sql`INSERT INTO dirsyncd.decisions (sync, target, fingerprint, decision, run, decided_by)
      SELECT ${run.sync}, ${run.target}, fingerprint, ${decision}, ${run.run}, ${by}
      FROM unnest(${fingerprints}::text[]) AS fingerprint
      ON CONFLICT (sync, target, fingerprint) DO UPDATE
      SET decision = excluded.decision, run = excluded.run, decided_by = excluded.decided_by, decided_at = now()`.execute(
      trx,
    )
    await trx.updateTable('dirsyncd.runs').set({ hold: decision }).where('run', '=', run.run).execute()
  })
}

export async function decisionsOf(db: Db, sync: string, target: string): Promise<Decisions> {
  const rows = await db
    .selectFrom('dirsyncd.decisions')
    .select(['fingerprint', 'decision', 'run', 'decided_by'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .execute()
  const approved = new Set<string>()
  const rejected = new Map<string, string>()
  for (const row of rows) {
    if (row.decision === 'approved') approved.add(row.fingerprint)
    else rejected.set(row.fingerprint, `rejected by ${row.decided_by} in the hold of run ${row.run}`)
  }
  return { approved, rejected }
}

/** Forgets every decision but those about these changes: a decision lives as long as its change is wanted and open. */
export async function keepDecisions(
  db: Db,
  sync: string,
  target: string,
  fingerprints: readonly string[],
): Promise<void> {
  await sql`DELETE FROM dirsyncd.decisions WHERE sync = ${sync} AND target = ${target}
    AND fingerprint <> ALL(${fingerprints}::text[])`.execute(db)
}
