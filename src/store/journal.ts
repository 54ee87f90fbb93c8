import type { Guarded } from '../core/block.ts'
import { type RawBuilder, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import { kindOf, type Op } from '../core/plan/change.ts'
import type { SyncTarget } from './run-types.ts'
import type { Db } from './tables.ts'

/**
 * How many deletes within the last 24 hours nobody approved. One that may have been done counts, unless it was tried
 * again.
 */
export async function deletedLastDay(
  db: Db,
  { sync, target }: SyncTarget,
): Promise<Readonly<Record<Guarded, number>>> {
  const { rows } = await sql<{ op: Op; removes: string }>`
    SELECT op, sum(removes) AS removes FROM dirsyncd.journal AS j
    WHERE sync = ${sync} AND target = ${target} AND outcome IN ('applied', 'found', 'unknown') AND removes > 0
      AND approved_by IS NULL AND intent_at > now() - interval '24 hours'
      AND (outcome <> 'unknown' OR NOT EXISTS (SELECT FROM dirsyncd.journal AS later
        WHERE later.sync = j.sync AND later.target = j.target AND later.fingerprint = j.fingerprint
          AND later.outcome IN ('applied', 'found', 'unknown') AND later.intent_at > j.intent_at))
    GROUP BY op`.execute(db)
  const counts = { users: 0, groups: 0, memberships: 0 }
  for (const { op, removes } of rows) {
    const kind: Guarded = op === 'set-members' ? 'memberships' : `${kindOf(op)}s`
    counts[kind] += Number(removes)
  }
  return counts
}

/**
 * The ids of the entries that this sync deleted on this target within the last 24 hours, or may have deleted.
 *
 * @param ids the only ones that are asked about
 */
export async function deletedIdsLastDay(
  db: Db,
  { sync, target }: SyncTarget,
  ids?: readonly string[],
): Promise<Readonly<Record<Kind, ReadonlySet<string>>>> {
  const { rows } = await sql<{ op: Op; entry_id: string }>`SELECT op, entry_id FROM ${journalRows(ids)} AS j
    WHERE sync = ${sync} AND target = ${target} AND op IN ('delete-user', 'delete-group')
      AND outcome IN ('applied', 'found', 'already', 'unknown')
      AND intent_at > now() - interval '24 hours'`.execute(db)
  const deleted = { user: new Set<string>(), group: new Set<string>() }
  for (const { op, entry_id: id } of rows) deleted[op === 'delete-user' ? 'user' : 'group'].add(id)
  return deleted
}

/**
 * The rows of the journal, as a table: those of these entries, or all where `ids` is left out. No index finds an entry,
 * as it would cost each write; so one look at each row has to be all, before anything else is asked of it. After a
 * company was created, the journal has a row for each of its users.
 */
export function journalRows(ids: readonly string[] | undefined): RawBuilder<unknown> {
  if (ids === undefined) return sql`dirsyncd.journal`
  // OFFSET keeps PostgreSQL from asking the other questions first, or from walking through all rows in their order.
  return sql`(SELECT * FROM dirsyncd.journal WHERE entry_id = ANY(${ids}::text[]) OFFSET 0)`
}
