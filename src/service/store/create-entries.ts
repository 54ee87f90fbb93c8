import { sql } from 'kysely'
import type { Pool } from 'pg'
import { json, SCHEMA, type Trx } from './database.ts'
import { parseIp } from '../events/ip-address.ts'
import { entryEvent, type Origin } from '../events/event.ts'
import type { NewGroup } from './groups.ts'
import type { NewUser } from './users.ts'

export type NewEntries =
  | { readonly kind: 'user'; readonly entries: readonly NewUser[] }
  | { readonly kind: 'group'; readonly entries: readonly NewGroup[] }

/** What became of a request: the ids of the created entries in the order in which they were given, or those taken. */
export type Creation = { readonly ids: readonly number[] } | { readonly taken: ReadonlySet<string> }

const INSERT = sql.id(SCHEMA, 'insert_entries')
/** Named, so that PostgreSQL plans it once for each connection. */
const CREATE = {
  name: 'create-entries',
  text: `select ids, taken from ${SCHEMA}.create_entries($1, $2, $3, $4, $5::jsonb, $6::jsonb)`,
}

/** A value holds no NUL, so an event text is split at it where the name of the directory belongs. */
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
  const from = { actor: origin.actor, at: origin.at, ip: parseIp(origin.ip)?.text ?? null }
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

/** Inserts entries without events, in the transaction that made their directory. */
export async function insertEntries(
  trx: Trx,
  directoryId: number,
  { kind, entries }: NewEntries,
): Promise<void> {
  await sql`select ${INSERT}(${directoryId}::integer, ${kind}::text, ${json(entries)})`.execute(trx)
}
