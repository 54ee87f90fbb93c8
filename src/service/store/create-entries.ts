import { sql } from 'kysely'
import type { Pool } from 'pg'
import { json, SCHEMA, type Trx } from './database.ts'
import { entryEvent, type Origin } from '../events/event.ts'
import type { NewGroup } from './groups.ts'
import type { NewUser } from './users.ts'

export type NewEntries =
  | { readonly kind: 'user'; readonly entries: readonly NewUser[] }
  | { readonly kind: 'group'; readonly entries: readonly NewGroup[] }

/** The ids of the created entries, in the order in which they were given, or the external ids that are taken. */
export type Creation = { readonly ids: readonly number[] } | { readonly taken: ReadonlySet<string> }

const INSERT = sql.id(SCHEMA, 'insert_entries')
/** Named, so that PostgreSQL plans it once for each connection. */
const CREATE = {
  name: 'create-entries',
  text: `select ids, taken from ${SCHEMA}.create_entries($1, $2, $3, $4, $5::jsonb, $6::jsonb)`,
}

/** Stands for the directory's name in the text of an event, which is split there; no value holds a NUL. */
const DIRECTORY_NAME = '\0'

/**
 * Creates entries with their events, all or none, in one statement, which locks the row of the directory: the writers
 * of a directory take turns (see `writeDirectory`). `undefined` where the organization has no such directory.
 */
export async function createEntries(
  pool: Pool,
  origin: Origin,
  directoryId: number,
  given: NewEntries,
  { uniqueIds }: { readonly uniqueIds: boolean },
): Promise<Creation | undefined> {
  const { kind, entries } = given
  const context = { actor: origin.actor, kind, directory: { id: directoryId, name: DIRECTORY_NAME } }
  const rows = entries.map((entry) => {
    const { description, subject } = entryEvent(context, 'create', { id: 0, ...entry })
    const [before_name, after_name] = description.split(DIRECTORY_NAME)
    return { ...entry, subject, before_name, after_name }
  })
  const from = { actor: origin.actor, at: origin.at, ip: origin.ip }
  const values = [
    origin.organizationId,
    directoryId,
    kind,
    uniqueIds,
    JSON.stringify(rows),
    JSON.stringify(from),
  ]
  const created = await pool.query<{ ids: number[] | null; taken: string[] }>({ ...CREATE, values })
  const [row] = created.rows
  if (row === undefined) return undefined
  return row.ids === null ? { taken: new Set(row.taken) } : { ids: row.ids }
}

/** Inserts entries without events and without a check of their external ids. */
export async function insertEntries(
  trx: Trx,
  directoryId: number,
  { kind, entries }: NewEntries,
): Promise<void> {
  await sql`select ${INSERT}(${directoryId}::integer, ${kind}::text, ${json(entries)})`.execute(trx)
}
