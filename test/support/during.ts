import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'

/** Does the work while a transaction, as a request to the API has one, is at the first statement, before the others. */
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
    await sleep(200)
    for (const statement of others) await client.query(statement)
    await client.query('commit')
    return working
  } finally {
    client.release()
  }
}
