import { type Kysely, sql } from 'kysely'
import type { Attempt } from './journal.ts'
import { storable } from './storable.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** Remembers that the API refused this change for its own content. */
export async function quarantine(db: Db, attempt: Attempt, why: string): Promise<void> {
  const detail = storable(why)
  await db
    .insertInto('dirsyncd.quarantine')
    .values({ sync: attempt.sync, target: attempt.target, fingerprint: attempt.fingerprint, detail })
    .onConflict((conflict) =>
      conflict.columns(['sync', 'target', 'fingerprint']).doUpdateSet({ detail, tried_at: sql<Date>`now()` }),
    )
    .execute()
}

/** The quarantined changes that were tried within the last day, with why the API refused them. */
export async function quarantined(
  db: Db,
  sync: string,
  target: string,
): Promise<readonly { fingerprint: string; detail: string }[]> {
  return db
    .selectFrom('dirsyncd.quarantine')
    .select(['fingerprint', 'detail'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where(sql<boolean>`tried_at > now() - interval '24 hours'`)
    .execute()
}

/** Forgets what no plan wants any more, and what was applied after all: only these fingerprints stay. */
export async function keepQuarantined(
  db: Db,
  sync: string,
  target: string,
  fingerprints: readonly string[],
): Promise<void> {
  await sql`DELETE FROM dirsyncd.quarantine WHERE sync = ${sync} AND target = ${target}
    AND fingerprint <> ALL(${fingerprints}::text[])`.execute(db)
}
