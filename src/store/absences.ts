import { type Kysely, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import type { Absence, Absences } from '../core/plan/grace.ts'
import { storableJson } from './storable.ts'
import type { SyncTarget } from './run-types.ts'
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

/**
 * After a good read: adds one read to each entry that waits for its delete, and forgets the entries that the source has
 * again. Other entries stay, because the list of a directory may lack an entry once and show it again.
 */
export async function countAbsences(
  db: Db,
  { sync, target }: SyncTarget,
  waiting: Readonly<Record<Kind, readonly string[]>>,
  isBack: (kind: Kind, id: string) => boolean,
): Promise<void> {
  const known = await absencesOf(db, { sync, target })
  const back = KINDS.flatMap((kind) => [...known[kind].keys()].map((id) => ({ kind, id }))).filter(
    ({ kind, id }) => isBack(kind, id),
  )
  const entries = KINDS.flatMap((kind) => waiting[kind].map((id) => ({ kind, id })))
  if (back.length > 0) {
    await sql`DELETE FROM dirsyncd.absences AS a USING ${listed(back)}
      WHERE sync = ${sync} AND target = ${target} AND listed.kind = a.kind AND listed.id = a.entry_id`.execute(
      db,
    )
  }
  if (entries.length === 0) return
  await sql`INSERT INTO dirsyncd.absences AS a (sync, target, kind, entry_id)
    SELECT ${sync}, ${target}, listed.kind, listed.id FROM ${listed(entries)}
    ON CONFLICT (sync, target, kind, entry_id) DO UPDATE SET reads = a.reads + 1, counted_at = now()`.execute(
    db,
  )
}

/** Forgets the absences of the entries that this run deleted. */
export async function forgetDeleted(db: Db, run: number): Promise<void> {
  await sql`DELETE FROM dirsyncd.absences AS a USING dirsyncd.changes AS c, dirsyncd.runs AS r
    WHERE c.run = ${run} AND r.run = c.run AND c.op = 'delete-' || a.kind AND c.state IN ('applied', 'found', 'already')
      AND a.sync = r.sync AND a.target = r.target AND a.entry_id = c.entry_id`.execute(db)
}

const KINDS = ['user', 'group'] as const

function listed(entries: readonly { readonly kind: Kind; readonly id: string }[]) {
  return sql`jsonb_to_recordset(${storableJson(entries)}::jsonb) AS listed(kind text, id text)`
}
