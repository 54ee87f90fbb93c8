import { type Kysely, sql } from 'kysely'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
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
  const known = forEachInSteps(rows, ({ kind, entry_id: id, since, reads }) =>
    absences[kind].set(id, { since, reads }),
  )
  await inTurns(known)
  return absences
}

/** After a good read: adds one read to entries that wait for their delete. */
export async function addAbsences(
  db: Db,
  { sync, target }: SyncTarget,
  kind: Kind,
  ids: readonly string[],
): Promise<void> {
  await sql`INSERT INTO dirsyncd.absences AS a (sync, target, kind, entry_id)
    SELECT ${sync}, ${target}, ${kind}, id FROM jsonb_array_elements_text(${storableJson(ids)}::jsonb) AS id
    ON CONFLICT (sync, target, kind, entry_id) DO UPDATE SET reads = a.reads + 1, counted_at = now()`.execute(
    db,
  )
}

/** Forgets entries that the source has again. */
export async function forgetAbsences(
  db: Db,
  { sync, target }: SyncTarget,
  kind: Kind,
  ids: readonly string[],
): Promise<void> {
  await sql`DELETE FROM dirsyncd.absences
    WHERE sync = ${sync} AND target = ${target} AND kind = ${kind}
      AND entry_id IN (SELECT jsonb_array_elements_text(${storableJson(ids)}::jsonb))`.execute(db)
}

/** Forgets the absences of the entries that this run deleted. */
export async function forgetDeleted(db: Db, run: number): Promise<void> {
  await sql`DELETE FROM dirsyncd.absences AS a USING dirsyncd.changes AS c, dirsyncd.runs AS r
    WHERE c.run = ${run} AND r.run = c.run AND c.op = 'delete-' || a.kind AND c.state IN ('applied', 'found', 'already')
      AND a.sync = r.sync AND a.target = r.target AND a.entry_id = c.entry_id`.execute(db)
}
