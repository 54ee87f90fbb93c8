import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import type { RunningService } from '../support/service.ts'
import { ask } from './api.ts'
import { describeService } from './with-service.ts'
import { longTest } from '../support/long.ts'
import { eventually } from '../support/eventually.ts'

/** The statements of the pool while `work` runs: each query of a pool takes one client. */
async function statementsOf(pool: Pool, work: () => Promise<void>): Promise<number> {
  let taken = 0
  const count = () => void (taken += 1)
  pool.on('acquire', count)
  await work()
  pool.off('acquire', count)
  return taken
}

function create(service: RunningService, operation: 'createUsers' | 'createGroups', ids: readonly string[]) {
  const list = operation === 'createUsers' ? 'users' : 'groups'
  return ask(service, operation, { json: { [list]: ids.map((id) => ({ external_id: id, name: id })) } })
}

describeService('creating entries', {}, (service) => {
  test('needs one statement for the token and one for the entries, whatever the list holds', async () => {
    await create(service(), 'createUsers', ['before'])
    const many = Array.from({ length: 100 }, (_, index) => `many-${index}`)
    for (const operation of ['createUsers', 'createGroups'] as const) {
      const statements = await statementsOf(service().pool, async () => {
        expect((await create(service(), operation, many)).status).toBe(201)
      })
      expect(statements).toBe(2)
    }
  })

  test('is followed by an event for each entry, with its id and the name of the directory', async () => {
    const answer = await create(service(), 'createUsers', ['first', 'second'])
    const [first, second] = answer.body as { id: number }[]
    const { body } = await ask(service(), 'listEvents', { query: '?per_page=2' })
    const subject = { type: 'directory_user', email: '' }
    expect(body).toMatchObject([
      { subject: { ...subject, id: second!.id, name: 'second' } },
      {
        type: 'create_directory_user',
        operation: 'create',
        description: { en: 'Ada Admin created the user first (first) in the directory Corporate.' },
        actor: { type: 'contact', id: 11, name: 'Ada Admin', email: 'ada@example.org' },
        subject: { ...subject, id: first!.id, name: 'first' },
      },
    ])
  })
})

describeService(
  'a directory that fills up from empty',
  {},
  (service) => {
    longTest('is not read for each new entry, and leaves no counts of empty blocks behind', async () => {
      const { pool } = service()
      for (let from = 0; from < 1500; from += 100) {
        const ids = Array.from({ length: 100 }, (_, index) => `fill-${from + index}`)
        expect((await create(service(), 'createUsers', ids)).status).toBe(201)
      }
      await eventually(async () => expect(await rowsRead(pool)).toBeLessThan(5000))
      const ids = Array.from({ length: 1500 }, (_, index) => `fill-${index}`)
      for (const externalId of ids) await ask(service(), 'deleteUser', { externalId })
      const { rows } = await pool.query(
        'select entries from access_management.entry_blocks where entries = 0',
      )
      expect(rows).toEqual([])
    })
  },
  (await import('./backends.ts')).backends.filter(({ name }) => name === 'PostgreSQL'),
)

/** What scans and indexes returned so far; the server counts about once a second. */
async function rowsRead(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ read: string; written: string }>(
    `select sum(seq_tup_read + idx_tup_fetch) as read, sum(n_tup_ins) as written
      from pg_stat_user_tables where relname = 'external_users'`,
  )
  expect(Number(rows[0]?.written)).toBeGreaterThanOrEqual(1500)
  return Number(rows[0]?.read)
}
