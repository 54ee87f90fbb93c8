import type { Pool } from 'pg'
import { expect } from 'vitest'

/**
 * Does the work while a transaction, as a request to the API has one, is at the first statement. The others follow when
 * the work waits for it.
 */
export async function during<Result>(
  { pool }: { pool: Pool },
  [first = '', ...others]: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(first)
    const working = work()
    working.catch(() => {})
    await expect.poll(() => waitsForLock(pool)).toBe(true)
    for (const statement of others) await client.query(statement)
    await client.query('commit')
    return working
  } finally {
    client.release()
  }
}

async function waitsForLock(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rowCount !== 0
}
