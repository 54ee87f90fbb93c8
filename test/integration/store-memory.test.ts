import { type Kysely, sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { EMPTY_LEDGER } from '../../src/core/decisions.ts'
import { keyText } from '../../src/core/keys.ts'
import { createLocalControl } from '../../src/operations/local.ts'
import type { Op } from '../../src/core/plan/change.ts'
import { deletedLastDay } from '../../src/store/journal.ts'
import { loadLedger, lockLedger, packLedger, packShown, saveLedger } from '../../src/store/ledgers.ts'
import { quarantined } from '../../src/store/quarantine.ts'
import { addRun, findRun, stopRun } from '../../src/store/runs.ts'
import type { Store } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/tables.ts'
import { MAX_DELETES } from '../support/blocks.ts'
import { beginFenced } from '../support/fenced.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'

const bed = useTestStore()

let store: Store
let db: Kysely<Tables>
let sync: string

beforeEach(() => {
  ;({ store, db, sync } = bed)
})

/** Asks for a run, and returns its number. */
function ask(target = TARGET): Promise<number> {
  return addRun(db, { sync, target, mode: 'sync', trigger: 'demand' })
}

/** Adds a run that asks about these deletes of users for these reasons, and returns its number. */
async function asking(questions: Readonly<Record<string, string>>): Promise<number> {
  const run = await ask()
  const codes = new Map(
    Object.entries(questions).map(([id, code]) => [keyText(['group', id, 'delete']), new Set([code])]),
  )
  const of = { sync, target: TARGET, origin: 'sync' }
  await db.transaction().execute(async (trx) => {
    await lockLedger(trx, of)
    const blocked = new Map([...codes].map(([text, asks]) => [text, { since: run, asks }]))
    const set = await packLedger({ ...EMPTY_LEDGER, blocked })
    await saveLedger(trx, of, { set, folded: 0, open: codes.size, asker: run })
    await (
      await packShown({ run, codes, waiting: [] })
    )(trx, run)
    const block = { ...MAX_DELETES, until: 'decision', stops: true, asks: null, changes: codes.size }
    const blocks = JSON.stringify([block])
    await trx.updateTable('dirsyncd.runs').set({ blocks }).where('run', '=', run).execute()
  })
  return run
}

function controlOf(woken: string[] = []) {
  const targets = new Map([[sync, TARGET]])
  return createLocalControl({ db, targets, wake: async (name) => void woken.push(name) })
}

test('a change that the API refused is tried again a day later', async () => {
  for (const [fingerprint, hours] of [
    ['late', 25],
    ['fresh', 23],
  ] as const) {
    await sql`INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, params, tried_at)
      VALUES (${sync}, ${TARGET}, ${fingerprint}, 'create-user', 'u', '{"answer":"refused"}', now() - make_interval(hours => ${hours}))`.execute(
      db,
    )
  }
  expect(await quarantined(db, { sync, target: TARGET })).toEqual([
    { digest: 'fresh', op: 'create-user', id: 'u', code: 'quarantine', params: { answer: 'refused' } },
  ])
})

test('the deletes of the last day are counted, but for those that an operator approved', async () => {
  const usual = await ask()
  async function journal(
    op: Op,
    removes: number,
    more: { approvedBy?: string; hours?: number; target?: string; outcome?: string; print?: string } = {},
  ) {
    const { approvedBy = null, hours = 1, target = TARGET, outcome = 'applied', print = 'f' } = more
    await sql`INSERT INTO dirsyncd.journal
      (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, removes, outcome, approved_by, intent_at)
      VALUES (${usual}, 1, ${sync}, ${target}, ${op}, 'u1', ${print}, 1, 'w', ${removes}, ${outcome},
        ${approvedBy}, now() - make_interval(hours => ${hours}))`.execute(db)
  }
  await journal('delete-user', 1)
  await journal('delete-user', 1, { hours: 23 })
  await journal('delete-group', 1)
  await journal('delete-user', 1, { hours: 25 })
  await journal('delete-user', 1, { approvedBy: 'ada' })
  await journal('delete-user', 1, { outcome: 'found' })
  await journal('delete-user', 1, { target: 'https://elsewhere.example' })
  await journal('delete-user', 1, { outcome: 'already' })
  await journal('create-user', 0)
  expect(await deletedLastDay(db, { sync, target: TARGET })).toEqual({ users: 3, groups: 1, memberships: 0 })
  // Of a process that was killed: it may have been done.
  await journal('delete-user', 1, { outcome: 'unknown', hours: 3, print: 'lost' })
  expect(await deletedLastDay(db, { sync, target: TARGET })).toMatchObject({ users: 4 })
  await journal('delete-user', 1, { outcome: 'unknown', hours: 2, print: 'lost' })
  expect(await deletedLastDay(db, { sync, target: TARGET })).toMatchObject({ users: 4 })
  // It had not been done.
  await journal('delete-user', 1, { hours: 1, print: 'lost' })
  expect(await deletedLastDay(db, { sync, target: TARGET })).toMatchObject({ users: 4 })
})

test('the first reason to stop a run stays', async () => {
  const run = await ask()
  const fenced = await beginFenced(store, run)
  await fenced.write((trx) => stopRun(trx, run, 'token-refused', 'the token is refused'))
  await fenced.write((trx) => stopRun(trx, run, 'directory-unknown', 'the directory is unknown'))
  expect(await findRun(db, run)).toMatchObject({
    stop_code: 'token-refused',
    stop_reason: 'the token is refused',
  })
})

test('a decision wakes the sync for an approval alone, and is known at once', async () => {
  const woken: string[] = []
  const control = controlOf(woken)
  const run = await asking({ a: 'max-deletes-groups', b: 'max-deletes-groups' })
  await control.reject({ run, by: 'ada', ids: ['a'], reason: 'I looked' })
  expect([woken, (await control.run(run))?.questions]).toEqual([[], 1])
  const { decision } = await control.approve({ run, by: 'bob' })
  expect([woken, (await control.run(run))?.questions]).toEqual([[sync], 0])
  expect(await control.run(decision.started!)).toMatchObject({ trigger: 'approval', state: 'waiting' })
  expect((await control.run(run))?.decisions).toMatchObject([
    { does: 'reject', by: 'ada', reason: 'I looked', keys: 1, started: null },
    { does: 'approve', by: 'bob', keys: 1, started: decision.started },
  ])
})

test('two operators who decide about two reasons at once are both heard', async () => {
  for (let turn = 0; turn < 5; turn++) {
    const control = controlOf()
    const run = await asking({ a: 'max-deletes-groups', b: 'container-emptied' })
    await Promise.all([
      control.approve({ run, by: 'ada', code: 'max-deletes-groups' }),
      control.reject({ run, by: 'bob', code: 'container-emptied' }),
    ])
    const { ledger } = await loadLedger(db, { sync, target: TARGET, origin: 'sync' })
    expect([...ledger.approvals.values()]).toMatchObject([{ run, by: 'ada' }])
    expect([...ledger.rejections.values()]).toMatchObject([{ run, by: 'bob' }])
  }
})

test.each([
  ['approve', 'approve'],
  ['reject', 'reject'],
  ['reject', 'approve'],
] as const)('of two operators who %s and %s the same at once one is heard', async (first, second) => {
  const told = await atOnceDecided(first, second)
  expect(told).toMatchObject({
    status: 'rejected',
    reason: { message: expect.stringMatching(/was (approved|rejected) by ada at \d{4}-/) },
  })
})

test('a rejection overrules an approval of the same at once', async () => {
  expect(await atOnceDecided('approve', 'reject')).toMatchObject({ status: 'fulfilled' })
  const { ledger } = await loadLedger(db, { sync, target: TARGET, origin: 'sync' })
  expect([ledger.approvals.size, ...ledger.rejections.values()]).toMatchObject([0, { by: 'bob' }])
})

/** Two operators decide about the same while the ledger is locked. Resolves with what the second was told. */
async function atOnceDecided(first: 'approve' | 'reject', second: 'approve' | 'reject') {
  const control = controlOf()
  const run = await asking({ a: 'max-deletes-groups' })
  const [locked, bothWait] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const locking = db.transaction().execute(async (trx) => {
    await lockLedger(trx, { sync, target: TARGET, origin: 'sync' })
    locked.resolve()
    await bothWait.promise
  })
  await locked.promise
  const ada = control[first]({ run, by: 'ada' })
  await expect.poll(() => waitingForLocks()).toBe(1)
  const deciding = Promise.allSettled([ada, control[second]({ run, by: 'bob' })])
  await expect.poll(() => waitingForLocks()).toBe(2)
  bothWait.resolve()
  await locking
  const [, told] = await deciding
  return told
}

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
  return rows[0]!.count
}
