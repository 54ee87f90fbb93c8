import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { ask } from './api.ts'
import { describeService } from './with-service.ts'

describeService('a directory that fills up from empty', {}, (service) => {
  test('is not read for each new entry, and leaves no counts of empty blocks behind', async () => {
    const { pool } = service()
    for (let from = 0; from < 1500; from += 100) {
      const users = Array.from({ length: 100 }, (_, index) => ({ external_id: `fill-${from + index}` }))
      expect((await ask(service(), 'createUsers', { json: { users } })).status).toBe(201)
    }
    await eventually(async () => expect(await rowsRead(pool)).toBeLessThan(5000))
    const ids = Array.from({ length: 1500 }, (_, index) => `fill-${index}`)
    for (const externalId of ids) await ask(service(), 'deleteUser', { externalId })
    const { rows } = await pool.query('select entries from access_management.entry_blocks where entries = 0')
    expect(rows).toEqual([])
  })
})

/** What scans and indexes returned so far; the server counts about once a second. */
async function rowsRead(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ read: string; written: string }>(
    `select sum(seq_tup_read + idx_tup_fetch) as read, sum(n_tup_ins) as written
      from pg_stat_user_tables where relname = 'external_users'`,
  )
  expect(Number(rows[0]?.written)).toBeGreaterThanOrEqual(1500)
  return Number(rows[0]?.read)
}
