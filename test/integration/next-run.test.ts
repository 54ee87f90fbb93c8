import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { addDecision } from '../next/store/ledgers.ts'
import { NEXT_SCHEMA } from '../next/store/schema.ts'
import { FencedRun } from '../../src/store/fenced-run.ts'
import { beginRun, findRun } from '../../src/store/runs.ts'
import { UserTable } from '../../src/core/entries/user-table.ts'
import { SyncOrigin } from '../next/sync/origin.ts'
import { run } from '../next/sync/run.ts'
import { Session } from '../next/sync/session.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'
import { QUICK } from '../support/times.ts'

const bed = useTestBed('next')
const { company, hire } = bed

beforeAll(async () => {
  for (const statement of NEXT_SCHEMA.split(';').filter((each) => each.trim() !== ''))
    await sql.raw(statement).execute(bed.db)
})

/** Makes one run as the new `sync/run.ts` does. */
async function syncNext({ parts, requestRun }: SyncHarness) {
  const { setup, log } = parts
  const { db, leases } = bed.opened.store
  const number = await requestRun()
  await using lease = (await leases.take(setup.name, 'a test', QUICK.lease))!
  await beginRun(db, lease, number, setup.target)
  const record = (await findRun(db, number))!
  const fenced = new FencedRun(db, { run: number, epoch: lease.epoch })
  const session = new Session({ db, log, isDead: () => true, times: QUICK }, setup, record, fenced, 'sync')
  const origin = new SyncOrigin({
    source: setup.source,
    readDirectory: (signal, table) => setup.readDirectory(signal, table, 'write'),
    table: new UserTable(),
    isAsked: true,
  })
  const { rules, limits, grace, options } = setup
  const job = { run: number, isDry: false, scope: undefined, rules, limits, grace, options }
  const end = await run(job, origin, session, new AbortController().signal)
  const { breaches } = (await findRun(db, number))!
  return { number, end, blocks: breaches as unknown as { code: string; keys: number }[] }
}

test('users and groups are created, changed and deleted, and a second run changes nothing', async () => {
  hire('a', 'b', 'c')
  company.groups.set('g', { name: 'Group', members: ['a', 'b'] })
  const harness = await bed.openWithWorker()
  expect(await syncNext(harness)).toMatchObject({ end: 'applied', blocks: [] })
  company.users.get('a')!.name = 'Another Name'
  company.users.delete('c')
  company.groups.set('g', { name: 'Group', members: ['b'] })
  expect(await syncNext(harness)).toMatchObject({ end: 'applied', blocks: [] })
  const seen = await bed.seen()
  expect([...seen.users.keys()].toSorted()).toEqual(['a', 'b'])
  expect(seen.users.get('a')?.name).toBe('Another Name')
  expect(seen.groups.get('g')?.members).toEqual(['b'])
  expect(await syncNext(harness)).toMatchObject({ end: 'applied', blocks: [] })
})

test('a plan over a limit is held; one deletion of it is approved and made, the other still waits', async () => {
  hire('a', 'b', 'c')
  const harness = await bed.openWithWorker({ maxUserDeletes: 1 })
  await syncNext(harness)
  company.users.delete('a')
  company.users.delete('b')
  hire('n')
  const held = await syncNext(harness)
  expect(held).toMatchObject({ end: 'held', blocks: [{ code: 'max-deletes-users', keys: 2 }] })
  expect([...(await bed.seen()).users.keys()].toSorted()).toEqual(['a', 'b', 'c'])
  const of = { sync: bed.sync, target: bed.target, origin: 'sync' }
  const selection = { ids: ['a'] }
  await addDecision(
    bed.db as never,
    of,
    { does: 'approve', run: held.number, by: 'ana', reason: '', selection },
    1,
  )
  expect(await syncNext(harness)).toMatchObject({ end: 'applied', blocks: [{ code: 'asked', keys: 1 }] })
  expect([...(await bed.seen()).users.keys()].toSorted()).toEqual(['b', 'c', 'n'])
})
