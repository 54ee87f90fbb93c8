import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeChunksOfEndedRuns } from '../../src/sync/apply/claim.ts'
import { interruptRuns } from '../../src/store/interruptions.ts'
import { deletedLastDay } from '../../src/store/journal.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { withLease } from '../../src/store/runs.ts'
import { createOlderStore } from '../support/older-store.ts'
import { QUICK } from '../support/times.ts'
import { ALL_VERSIONS, testUpgrades } from './store-upgrade.ts'

testUpgrades([ALL_VERSIONS[0]!, ALL_VERSIONS.at(-1)!])

describe('a store of the version that made one job of each change', () => {
  const stack = new AsyncDisposableStack()
  let store: Store
  let client: Client
  let opening: Promise<Store>

  beforeAll(async () => {
    const url = await createOlderStore('0008-nested-strangers')
    client = stack.adopt(new Client(url), (each) => each.end())
    await client.connect()
    await addRun(1, { state: 'held', hold: 'open', finished_at: 'now' })
    await addRun(2, { state: 'held', hold: 'open', finished_at: 'now' })
    await addRun(3, { state: 'applying' })
    await addRun(4, { state: 'applying' })
    await addRun(5, { state: 'waiting' })
    await addRun(6, { state: 'done', finished_at: 'now', approved: true })
    await addChange(3, 'sent')
    await addChange(4, 'sent-again')
    await client.query(`insert into dirsyncd.changes (run, number, phase, op, entry_id, fingerprint, change, removes)
      values (4, 2, 'users', 'create-user', 'not-sent', '', '{}', 0)`)
    await addToJournal(6, 'approved', 'applied')
    await addToJournal(4, 'failed-once', 'retry')
    opening = openStore({ kind: 'postgres', url, tables: 'upgrade' }).then(
      (opened) => (store = stack.use(opened)),
    )
    await opening.catch(() => undefined)
  })
  afterAll(() => stack.disposeAsync())

  async function addRun(run: number, more: Record<string, unknown>): Promise<void> {
    const values = { run, sync: 'corp', target: 'here', mode: 'sync', trigger: 'demand', epoch: 1, ...more }
    const places = Object.keys(values).map((_, index) => `$${index + 1}`)
    await client.query(
      `insert into dirsyncd.runs (${Object.keys(values).join(', ')}) overriding system value values (${places.join(', ')})`,
      Object.values(values),
    )
  }

  /** A change whose request may be under way. */
  async function addChange(run: number, id: string): Promise<void> {
    await client.query(
      `insert into dirsyncd.changes (run, number, phase, op, entry_id, fingerprint, change, removes, unsure, intent_at)
        values ($1, 1, 'users', 'delete-user', $2, '', '{}', 1, true, now())`,
      [run, id],
    )
    await addToJournal(run, id, null)
  }

  async function addToJournal(run: number, id: string, outcome: string | null): Promise<void> {
    await client.query(
      `insert into dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, removes, outcome)
        values ($1, 1, 'corp', 'here', 'delete-user', $2, '', 1, 'w', 1, $3)`,
      [run, id, outcome],
    )
  }

  test('opens, and of two holds and of two runs that nobody ended the newer one counts', async () => {
    await expect(opening).resolves.toHaveProperty('db')
    const query = store.db.selectFrom('dirsyncd.runs').select(['run', 'state', 'hold']).orderBy('run')
    expect(await query.where('run', '<', 6).execute()).toEqual([
      { run: 1, state: 'held', hold: 'replaced' },
      { run: 2, state: 'held', hold: 'open' },
      { run: 3, state: 'failed', hold: null },
      { run: 4, state: 'applying', hold: null },
      { run: 5, state: 'waiting', hold: null },
    ])
  })

  test.each([
    ["state = 'reading', finished_at = null where run = 3", 'runs_one_active'],
    ["hold = 'open' where run = 1", 'runs_one_hold'],
  ])('takes no second run under way, and no second hold: %s', async (change, constraint) => {
    const update = client.query(`update dirsyncd.runs set ${change}`)
    await expect(update).rejects.toMatchObject({ constraint })
  })

  test('knows what may be under way, and journals it when its runs have ended', async () => {
    const { db } = store
    const lease = stack.use((await store.leases.take('corp', 'a test', QUICK.lease))!)
    await withLease(db, lease, 0, (trx) => interruptRuns(trx, 'corp', async () => 5))
    await closeChunksOfEndedRuns(db, 'corp')
    const journal = await db.selectFrom('dirsyncd.journal').select(['entry_id', 'outcome']).execute()
    expect(journal.map((row) => `${row.entry_id} ${row.outcome}`).toSorted()).toEqual([
      'approved applied',
      'sent unknown',
      'sent-again unknown',
    ])
  })

  test('does not count what a person approved in the budget of the day', async () => {
    const place = { sync: 'corp', target: 'here' }
    expect(await deletedLastDay(store.db, place)).toMatchObject({ users: 0 })
  })
})
