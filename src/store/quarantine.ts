import { sql } from 'kysely'
import type { Op } from '../core/plan/change.ts'
import type { Refusal, RefusalReason } from '../core/checks/check.ts'
import type { Scope } from '../core/within.ts'
import type { SyncTarget } from './run-types.ts'
import type { Db } from './tables.ts'

/** The name of the entry of a row of `changes`. */
export const NAME_OF_CHANGE = sql<string | null>`coalesce(change #>> '{want,name}', change ->> 'name',
  change #>> '{have,name}')`

/** The changes among these that the service refused, however long ago, and that nobody released since. */
export async function quarantinedOf(
  db: Db,
  { sync, target }: SyncTarget,
  fingerprints: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ fingerprint: string }>`SELECT fingerprint FROM dirsyncd.quarantine
    WHERE sync = ${sync} AND target = ${target} AND code = 'quarantine'
      AND fingerprint = ANY(${fingerprints}::text[])`.execute(db)
  return new Set(rows.map(({ fingerprint }) => fingerprint))
}

/**
 * The quarantined changes, and why they are not tried now.
 *
 * @param when how long ago they were tried: within the last day, or no matter when
 */
export async function quarantined(
  db: Db,
  { sync, target }: SyncTarget,
  when: 'last-day' | 'ever' = 'last-day',
): Promise<readonly Refusal[]> {
  const query = db
    .selectFrom('dirsyncd.quarantine')
    .select(['fingerprint as digest', 'op', 'entry_id as id', 'code', 'params'])
    .where('sync', '=', sync)
    .where('target', '=', target)
  const tried = when === 'ever' ? query : query.where(sql<boolean>`tried_at > now() - interval '24 hours'`)
  // The parameters are those of the code.
  return (await tried.execute()) as readonly Refusal[]
}

/** Forgets changes that were applied after all, or that no plan wants any more. */
export async function forgetQuarantined(
  db: Db,
  { sync, target }: SyncTarget,
  fingerprints: readonly string[],
): Promise<void> {
  await sql`DELETE FROM dirsyncd.quarantine WHERE sync = ${sync} AND target = ${target}
    AND fingerprint = ANY(${fingerprints}::text[])`.execute(db)
}

interface QuarantineFilter {
  /** What each of the syncs writes to; only what these targets refused is listed or released. */
  readonly targets: ReadonlyMap<string, string>
  readonly scope?: Scope | undefined
}

export interface QuarantinedRow {
  readonly sync: string
  readonly fingerprint: string
  readonly op: Op
  readonly entry_id: string
  readonly name: string | null
  readonly refusal: RefusalReason
  readonly since: Date
  readonly tried_at: Date
  readonly tried_again_at: Date
}

const COLUMNS = sql`sync, fingerprint, op, entry_id, name, jsonb_build_object('code', code, 'params', params) AS refusal, since, tried_at,
  tried_at + interval '24 hours' AS tried_again_at`

/** What is in quarantine, by sync, entry and operation. */
export async function listQuarantine(db: Db, filter: QuarantineFilter): Promise<readonly QuarantinedRow[]> {
  const { rows } = await sql<QuarantinedRow>`SELECT ${COLUMNS} FROM dirsyncd.quarantine
    WHERE ${matches(filter)} ORDER BY sync, entry_id, op, fingerprint`.execute(db)
  return rows
}

/** Forgets that these changes were refused, so that the next run tries them again. Returns them. */
export async function releaseQuarantine(
  db: Db,
  filter: QuarantineFilter,
): Promise<readonly QuarantinedRow[]> {
  const { rows } = await sql<QuarantinedRow>`WITH released AS (
      DELETE FROM dirsyncd.quarantine WHERE ${matches(filter)} RETURNING *
    ) SELECT ${COLUMNS} FROM released ORDER BY sync, entry_id, op, fingerprint`.execute(db)
  return rows
}

function matches({ targets, scope }: QuarantineFilter) {
  const ofTargets = sql<boolean>`(sync, target) IN (
    SELECT * FROM unnest(${[...targets.keys()]}::text[], ${[...targets.values()]}::text[]))`
  if (scope === undefined) return ofTargets
  return sql<boolean>`${ofTargets} AND (op LIKE '%-user' AND entry_id = ANY(${scope.users}::text[])
    OR op NOT LIKE '%-user' AND entry_id = ANY(${scope.groups}::text[]))`
}
