import { type Kysely, sql } from 'kysely'
import type { SyncTarget } from './run-types.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

export interface Unconverged {
  readonly fingerprint: string
  /** One sentence for a person. */
  readonly detail: string
}

/** Changes that were made twice in a row within the last day, and that no run has seen in the directory since. */
export async function unconverged(db: Db, of: SyncTarget): Promise<readonly Unconverged[]> {
  const { rows } =
    await sql<Unconverged>`SELECT fingerprint, detail FROM (${writtenTwice(of)}) AS twice`.execute(db)
  return rows
}

/**
 * After a read of both sides: a write whose change is no longer wanted had its effect. It counts no more, even if
 * somebody else changes the entry later.
 *
 * @param wanted the fingerprints of all changes that the sides still differ by, also of those that wait
 */
export async function settleWrites(
  db: Db,
  { sync, target }: SyncTarget,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const { rows } = await sql<{ fingerprint: string }>`SELECT DISTINCT fingerprint FROM (${openWrites({
    sync,
    target,
  })}) AS open`.execute(db)
  const seen = rows.map(({ fingerprint }) => fingerprint).filter((fingerprint) => !wanted.has(fingerprint))
  if (seen.length === 0) return
  await sql`UPDATE dirsyncd.journal SET settled = true
    WHERE sync = ${sync} AND target = ${target} AND intent_at > now() - interval '24 hours' AND NOT settled
      AND fingerprint = ANY(${seen}::text[])`.execute(db)
}

/** Puts the withheld changes that do not converge into quarantine. Only later writes of them count again. */
export async function quarantineUnconverged(
  db: Db,
  { sync, target }: SyncTarget,
  withheld: readonly string[],
): Promise<void> {
  if (withheld.length === 0) return
  await sql`
    WITH twice AS (
      SELECT * FROM (${writtenTwice({ sync, target })}) AS twice WHERE fingerprint = ANY(${withheld}::text[])
    ), settled AS (
      UPDATE dirsyncd.journal SET settled = true
      WHERE sync = ${sync} AND target = ${target} AND fingerprint IN (SELECT fingerprint FROM twice)
    )
    INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, code, detail, tried_at)
    SELECT ${sync}, ${target}, fingerprint, op, entry_id, 'does-not-converge', detail, tried_at FROM twice
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET code = EXCLUDED.code, detail = EXCLUDED.detail, tried_at = EXCLUDED.tried_at`.execute(db)
}

/** The newest two writes to an entry with one operation, where both did the same. */
function writtenTwice(of: SyncTarget) {
  return sql`SELECT min(fingerprint) AS fingerprint, op, entry_id, max(intent_at) AS tried_at, CASE
      WHEN bool_and(outcome <> 'applied')
      THEN 'was to be deleted twice: the service says that it is not there, and lists it all the same'
      WHEN op LIKE 'delete-%'
      THEN 'was deleted twice, and the directory still shows it: the service does not delete it, or somebody creates it again'
      ELSE 'was written twice, and the directory still shows another value: the service does not keep it, or somebody ' ||
        'changes it back' END AS detail
    FROM (
      SELECT *, row_number() OVER (PARTITION BY op, entry_id ORDER BY id DESC) AS place FROM (${openWrites(of)}) AS open
    ) AS recent
    WHERE place <= 2
    GROUP BY op, entry_id
    HAVING count(*) = 2 AND count(DISTINCT fingerprint) = 1`
}

/** Writes that no run has seen in the directory yet, and deletes of what the service says it does not have. */
function openWrites({ sync, target }: SyncTarget) {
  return sql`SELECT id, op, entry_id, fingerprint, outcome, intent_at FROM dirsyncd.journal
    WHERE sync = ${sync} AND target = ${target} AND NOT settled
      AND (outcome = 'applied' OR (outcome IN ('already', 'found') AND op LIKE 'delete-%'))
      AND op NOT LIKE 'create-%' AND intent_at > now() - interval '24 hours'`
}
