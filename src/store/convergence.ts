import { type Kysely, sql } from 'kysely'
import type { SyncTarget } from './run-types.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

export interface Unconverged {
  readonly fingerprint: string
  /** One sentence for a person. */
  readonly detail: string
}

/** Changes that were applied twice in a row within the last day, and that no run has seen in the directory since. */
export async function unconverged(db: Db, of: SyncTarget): Promise<readonly Unconverged[]> {
  const { rows } =
    await sql<Unconverged>`SELECT fingerprint, detail FROM (${appliedTwice(of)}) AS twice`.execute(db)
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
      SELECT * FROM (${appliedTwice({ sync, target })}) AS twice WHERE fingerprint = ANY(${withheld}::text[])
    ), settled AS (
      UPDATE dirsyncd.journal SET settled = true
      WHERE sync = ${sync} AND target = ${target} AND fingerprint IN (SELECT fingerprint FROM twice)
    )
    INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, code, detail)
    SELECT ${sync}, ${target}, fingerprint, op, entry_id, 'does-not-converge', detail FROM twice
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET code = EXCLUDED.code, detail = EXCLUDED.detail, tried_at = now()`.execute(db)
}

/** The newest two writes to an entry with one operation, where both did the same. */
function appliedTwice(of: SyncTarget) {
  return sql`SELECT min(fingerprint) AS fingerprint, op, entry_id, CASE WHEN op LIKE 'delete-%'
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

/** Applied writes that no run has seen in the directory yet. */
function openWrites({ sync, target }: SyncTarget) {
  return sql`SELECT id, op, entry_id, fingerprint FROM dirsyncd.journal
    WHERE sync = ${sync} AND target = ${target} AND outcome = 'applied' AND NOT settled
      AND op NOT LIKE 'create-%' AND intent_at > now() - interval '24 hours'`
}
