import type { Pool } from 'pg'
import { DirsyncdError, type ErrorCode, sentence, systemCode } from '../errors.ts'

export interface MadeTables {
  /** As the beginning of a sentence. */
  readonly where: (database: string) => string
  /** Throws if the user may not look. */
  readonly isEmpty: () => Promise<boolean>
  /** Default: `store-unavailable`. */
  readonly code?: ErrorCode
}

/** Does the work on tables. Throws a sentence where the user of the database may not, and other errors as they are. */
export async function withRights<T>(pool: Pool, tables: MadeTables, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const refusal = error instanceof DirsyncdError ? error.cause : error
    const advice = adviceOn(refusal)
    if (advice === undefined) throw error
    const { rows } = await pool.query('select current_user as "user", current_database() as database')
    const { user, database } = rows[0]
    const what = `${tables.where(database)} ${await whatIsRefused(tables, user)}`
    throw new DirsyncdError(tables.code ?? 'store-unavailable', `${what}: ${sentence(refusal)}; ${advice}.`, {
      cause: refusal,
    })
  }
}

/** Throws at the start what the server would answer to the first write. */
export async function requireWrites(db: Pool, schema: string): Promise<void> {
  const { rows } = await db.query<{ isReadOnly: boolean; refused: string | null }>(REFUSED, [schema])
  const [{ isReadOnly, refused } = { isReadOnly: false, refused: null }] = rows
  if (isReadOnly) throw serverError('25006', 'the database is read-only')
  if (refused !== null) throw serverError('42501', `permission denied for ${refused}`)
  if (schema !== 'bullmq') return
  // BullMQ makes a sequence for each queue.
  const { rows: others } = await db.query<{ may: boolean }>(MAY_NUMBER)
  if (others[0]?.may === false)
    throw serverError('42501', 'permission denied for schema bullmq or a sequence in it')
}

const REFUSED = `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  (SELECT string_agg(tablename, ', ' ORDER BY tablename) FROM pg_tables
    WHERE schemaname = $1 AND tablename !~ 'migration'
      AND NOT (SELECT bool_and(has_table_privilege(format('%I.%I', schemaname, tablename), needed))
        FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) needed)) AS refused`

const MAY_NUMBER = `SELECT has_schema_privilege(to_regnamespace('bullmq')::oid, 'CREATE') AND NOT EXISTS (
    SELECT FROM pg_sequences WHERE schemaname = 'bullmq'
      AND NOT has_sequence_privilege(format('%I.%I', schemaname, sequencename), 'USAGE')) AS may`

function serverError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

async function whatIsRefused({ isEmpty }: MadeTables, user: string): Promise<string> {
  // Only tables that exist can be closed to the user.
  return (await isEmpty().catch(() => false))
    ? `is empty, and its user ${user} may not make the tables`
    : `has tables that its user ${user} may not use`
}

/** How to grant the missing right; `undefined` for other errors. */
export function adviceOn(error: unknown): string | undefined {
  const code = systemCode(error)
  if (code === '25006') return 'name the primary server, or set default_transaction_read_only to off'
  if (code !== '42501') return undefined
  return / for database /.test(sentence(error))
    ? 'grant the user CREATE on the database'
    : 'connect as the user who made the tables, or make this user their owner'
}
