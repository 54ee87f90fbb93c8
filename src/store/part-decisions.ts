import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Breach } from '../core/plan/guards.ts'
import { leftOut } from '../core/plan/left-out.ts'
import { opsOfPart, type Part } from '../core/plan/part/part.ts'
import { INSTEAD_OF_EARLIER, lockRun, withDecision } from './decisions.ts'
import { approveForms } from './forget-decisions.ts'
import { isOfEntries } from './of-entries.ts'
import type { SyncTarget } from './run-types.ts'
import type { RunRecord } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

export interface PartApproval {
  readonly by: string
  readonly reason?: string | undefined
  readonly part: Part
}

/**
 * Approves the changes of a held plan that a part of it names, and lets the others wait for a decision of their own,
 * unless they were rejected. Returns how many changes the part names, or decides nothing where it has no change of some
 * ids, and returns those.
 *
 * @param check throws where the hold of this run takes no such decision; it gets the locked run
 */
export async function approvePart(
  db: Db,
  number: number,
  { by, reason, part }: PartApproval,
  check: (run: RunRecord) => void,
): Promise<{ readonly named: number; readonly unknown: readonly string[] }> {
  return db.transaction().execute(async (trx) => {
    const run = await lockRun(trx, number)
    check(run)
    const isRejected = sql<boolean>`EXISTS (SELECT FROM dirsyncd.decisions AS d WHERE d.sync = ${run.sync}
      AND d.target = ${run.target} AND d.fingerprint = changes.fingerprint AND d.decision = 'rejected')`
    const isNamed = run.hold === 'open' ? namedBy(part) : sql<boolean>`(${namedBy(part)} AND ${isRejected})`
    const unknown = await idsWithoutChange(trx, run, part, isNamed)
    if (unknown.length > 0) return { named: 0, unknown }
    const { rows } = await sql<{ fingerprint: string }>`INSERT INTO dirsyncd.decisions AS d
        (sync, target, fingerprint, decision, run, decided_by)
      SELECT DISTINCT ON (fingerprint) ${run.sync}, ${run.target}, fingerprint, 'approved', ${number}::integer, ${by}
      FROM dirsyncd.changes WHERE run = ${number} AND ${isNamed}
      ${INSTEAD_OF_EARLIER} RETURNING fingerprint`.execute(trx)
    await approveForms(
      trx,
      run,
      rows.map(({ fingerprint }) => fingerprint),
      by,
    )
    // The members of a group are rejected as a whole.
    const named = rows.length + (run.hold === 'open' ? await countMemberships(trx, number, part) : 0)
    if (named === 0) return { named, unknown }
    if (run.hold === 'open') await leaveOut(trx, run, sql`NOT ${isNamed}`, by)
    await trx
      .updateTable('dirsyncd.runs')
      .set({
        decisions: withDecision({ decision: 'approved', by, reason, part }),
      })
      .where('run', '=', number)
      .execute()
    return { named, unknown }
  })
}

/** Which ids of a part have no change in it, neither their own nor, in an open hold, of a membership. */
async function idsWithoutChange(
  trx: Db,
  { run, hold }: RunRecord,
  part: Part,
  isNamed: RawBuilder<boolean>,
): Promise<readonly string[]> {
  if (part.ids === undefined) return []
  const hasMembers = hold === 'open' && opsOfPart(part).includes('set-members')
  const members = sql`SELECT moved.id FROM dirsyncd.changes, LATERAL (
      (SELECT jsonb_array_elements_text(change -> 'want') EXCEPT SELECT jsonb_array_elements_text(change -> 'have'))
      UNION ALL
      (SELECT jsonb_array_elements_text(change -> 'have') EXCEPT SELECT jsonb_array_elements_text(change -> 'want'))
    ) AS moved (id) WHERE run = ${run} AND op = 'set-members'`
  const { rows } = await sql<{ id: string }>`SELECT unnest(${part.ids}::text[]) AS id
    EXCEPT SELECT entry_id FROM dirsyncd.changes WHERE run = ${run} AND ${isNamed}
    ${hasMembers ? sql`EXCEPT (${members})` : sql``}`.execute(trx)
  return rows.map(({ id }) => id)
}

/** What the person left out is not applied either before somebody decides about it, whatever the guards say. */
async function leaveOut(
  trx: Db,
  { run, sync, target }: RunRecord,
  isLeft: RawBuilder<unknown>,
  by: string,
): Promise<void> {
  await sql`INSERT INTO dirsyncd.decisions AS d (sync, target, fingerprint, decision, run, decided_by)
    SELECT DISTINCT ${sync}, ${target}, print, 'left-out', ${run}::integer, ${by}
    FROM dirsyncd.changes, unnest(ARRAY[fingerprint, wish]) AS print
    WHERE run = ${run} AND print IS NOT NULL AND ${isLeft}
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET decision = excluded.decision, run = excluded.run, decided_by = excluded.decided_by, decided_at = now()
    WHERE d.decision <> 'approved'`.execute(trx)
}

/** What people left out who approved parts of plans, and nobody has decided about since. */
export async function leftOutOf(db: Db, { sync, target }: SyncTarget): Promise<Breach | undefined> {
  const rows = await db
    .selectFrom('dirsyncd.decisions')
    .select(['fingerprint', 'run', 'decided_by'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('decision', '=', 'left-out')
    .orderBy('run', 'desc')
    .execute()
  const [last] = rows
  if (last === undefined) return undefined
  return leftOut(
    rows.map(({ fingerprint }) => fingerprint),
    last.decided_by,
    last.run,
  )
}

/** Whether a part names a row of `changes`. */
function namedBy(part: Part): RawBuilder<boolean> {
  return sql<boolean>`(op = ANY(${opsOfPart(part)}::text[]) AND ${isOfEntries(part.ids)})`
}

/** How many changes of a run a part names, and changes of members that concern a user of it. */
export async function countInPart(db: Db, run: number, part: Part): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND ${namedBy(part)}`.execute(db)
  return (rows[0]?.count ?? 0) + (await countMemberships(db, run, part))
}

/** How many changes of members concern a user whom the part names. */
async function countMemberships(trx: Db, run: number, part: Part): Promise<number> {
  if (part.ids === undefined || !opsOfPart(part).includes('set-members')) return 0
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND op = 'set-members' AND (change -> 'want' ?| ${part.ids}::text[]
      OR change -> 'have' ?| ${part.ids}::text[])`.execute(trx)
  return rows[0]?.count ?? 0
}

/** How many deletes of a run ended memberships that a part names: no change of members says so. */
export async function countEndedMemberships(db: Db, run: number, part: Part): Promise<number> {
  if (!opsOfPart(part).includes('set-members')) return 0
  const others = sql`coalesce(change -> 'have' -> 'groups', change -> 'have' -> 'members', '[]')`
  const isNamed =
    part.ids === undefined
      ? sql`${others} <> '[]'`
      : sql`(${others} ?| ${part.ids}::text[] OR entry_id = ANY(${part.ids}::text[]))`
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND op LIKE 'delete-%' AND ${isNamed}`.execute(db)
  return rows[0]?.count ?? 0
}
