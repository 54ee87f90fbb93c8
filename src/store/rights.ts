import type { Pool } from 'pg'
import { DirsyncdError, type ErrorCode, sentence, systemCode } from '../errors.ts'

/** Tables that a process makes or upgrades. */
export interface MadeTables {
  /** Names them, as the beginning of a sentence. */
  readonly where: (database: string) => string
  /** The steps that were made; none where there are no tables. Throws where the user may not look. */
  readonly steps: () => Promise<readonly unknown[]>
  /** `store-unavailable` if left out. */
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

async function whatIsRefused({ steps }: MadeTables, user: string): Promise<string> {
  try {
    return (await steps()).length === 0
      ? `is empty, and its user ${user} may not make the tables`
      : `was last used by an older dirsyncd, and its user ${user} may not upgrade the tables`
  } catch {
    return `has tables that its user ${user} may not use`
  }
}

/** Says how to give the user the missing right; `undefined` if the error is about something else. */
function adviceOn(error: unknown): string | undefined {
  const code = systemCode(error)
  if (code === '25006') return 'name the primary server, or set default_transaction_read_only to off'
  if (code !== '42501') return undefined
  return / for database /.test(sentence(error))
    ? 'grant it CREATE on the database'
    : 'connect as the user who made the tables, or make this user their owner'
}
