import { type Kysely, sql } from 'kysely'
import type { Kind } from '../directory/entry.ts'
import type { Absence, Absences } from '../plan/grace.ts'
import { storableJson } from './storable.ts'
import type { SyncTarget } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** The entries of the directory that the source did not have in the last good reads. */
export async function absencesOf(db: Db, { sync, target }: SyncTarget): Promise<Absences> {
  const rows = await db
    .selectFrom('dirsyncd.absences')
    .select(['kind', 'entry_id', 'since', 'reads'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .execute()
  const absences = { user: new Map<string, Absence>(), group: new Map<string, Absence>() }
  for (const { kind, entry_id: id, since, reads } of rows) absences[kind].set(id, { since, reads })
  return absences
}

/** After a good read: counts it for the entries that are absent, and forgets those that are back. */
export async function keepAbsences(
  db: Db,
  { sync, target }: SyncTarget,
  absent: Readonly<Record<Kind, readonly string[]>>,
): Promise<void> {
  const entries = (['user', 'group'] as const).flatMap((kind) => absent[kind].map((id) => ({ kind, id })))
  const listed = sql`jsonb_to_recordset(${storableJson(entries)}::jsonb) AS absent(kind text, id text)`
  await sql`DELETE FROM dirsyncd.absences AS a WHERE sync = ${sync} AND target = ${target}
    AND NOT EXISTS (SELECT FROM ${listed} WHERE absent.kind = a.kind AND absent.id = a.entry_id)`.execute(db)
  if (entries.length === 0) return
  await sql`INSERT INTO dirsyncd.absences AS a (sync, target, kind, entry_id)
    SELECT ${sync}, ${target}, absent.kind, absent.id FROM ${listed}
    ON CONFLICT (sync, target, kind, entry_id) DO UPDATE SET reads = a.reads + 1`.execute(db)
}
