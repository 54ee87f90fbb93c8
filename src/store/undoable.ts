import { type Kysely, type RawBuilder, sql } from 'kysely'
import { opsOfPart, type Part } from '../core/plan/part/part.ts'
import { isOfEntries } from './of-entries.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** Whether a part names a row of `changes`. */
function namedBy(part: Part): RawBuilder<boolean> {
  return sql<boolean>`(op = ANY(${opsOfPart(part)}::text[]) AND ${isOfEntries(part.ids)})`
}

/** How many changes of a run a part names, and changes of members that concern a user of it. */
export async function countInPart(db: Db, run: number, part: Part): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND state <> 'blocked' AND ${namedBy(part)}`.execute(db)
  return (rows[0]?.count ?? 0) + (await countMemberships(db, run, part))
}

/** How many changes of members concern a user that the part names. */
async function countMemberships(db: Db, run: number, part: Part): Promise<number> {
  if (part.ids === undefined || !opsOfPart(part).includes('set-members')) return 0
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND state <> 'blocked' AND op = 'set-members' AND (change -> 'want' ?| ${part.ids}::text[]
      OR change -> 'have' ?| ${part.ids}::text[])`.execute(db)
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
    WHERE run = ${run} AND state <> 'blocked' AND op LIKE 'delete-%' AND ${isNamed}`.execute(db)
  return rows[0]?.count ?? 0
}
