import { MAX_DELETES, MAX_MOVED_IDS } from '../support/blocks.ts'
import { type Kysely, sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { createLocalControl } from '../../src/operations/local.ts'
import type { Op } from '../../src/core/plan/change.ts'
import { decide, decisionsOf } from '../../src/store/decisions.ts'
import { atOnce } from '../../src/base/steps.ts'
import { heldRows } from '../../src/store/held-changes.ts'
import type { SyncTarget } from '../../src/store/run-types.ts'
import { decisionsOver } from '../../src/store/forget-decisions.ts'
import { deletedLastDay } from '../../src/store/journal.ts'
import { quarantined } from '../../src/store/quarantine.ts'
import { holdRun } from '../../src/store/holds.ts'
import { lastGood, storeLastGood } from '../../src/store/last-good.ts'
import { addRun, findRun, setRunState, stopRun } from '../../src/store/runs.ts'
import type { Store } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/tables.ts'
import { beginFenced, writeFenced } from '../support/fenced.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'
import { countsOf } from '../unit/ui/cli/runs-for-tests.ts'

const bed = useTestStore()

let store: Store
let db: Kysely<Tables>
let sync: string

beforeEach(() => {
  ;({ store, db, sync } = bed)
})

const NEW_HOLD = { seen: undefined, counts: countsOf({}), lastsMs: 1e9 }

/** Asks for a run, and returns its number. */
function ask(target = TARGET): Promise<number> {
  return addRun(db, { sync, target, mode: 'sync', trigger: 'demand' })
}

/** Ends a new run as held, with these changes, and returns its number. */
async function hold(...changes: string[]): Promise<number> {
  const run = (await findRun(db, await ask()))!
  const breaches = [{ ...MAX_DELETES, changes }]
  await writeFenced(store, run.run, async (trx) => {
    await setRunState(trx, run.run, 'planning', { breaches })
    await holdRun(trx, run, 'held', { ...NEW_HOLD, held: atOnce(heldRows(breaches)) })
  })
  return run.run
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
  expect(await quarantined(db, sync, TARGET)).toEqual([
    { fingerprint: 'fresh', code: 'quarantined', params: { answer: 'refused' } },
  ])
})

test('the deletes of the last day are counted, but for those that a person approved', async () => {
  const usual = await ask()
  async function journal(
    op: Op,
    removes: number,
    more: { approved?: boolean; hours?: number; target?: string; outcome?: string; print?: string } = {},
  ) {
    const { approved = false, hours = 1, target = TARGET, outcome = 'applied', print = 'f' } = more
    await sql`INSERT INTO dirsyncd.journal
      (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, removes, outcome, approved, intent_at)
      VALUES (${usual}, 1, ${sync}, ${target}, ${op}, 'u1', ${print}, 1, 'w', ${removes}, ${outcome},
        ${approved}, now() - make_interval(hours => ${hours}))`.execute(db)
  }
  await journal('delete-user', 1)
  await journal('delete-user', 1, { hours: 23 })
  await journal('delete-group', 1)
  await journal('delete-user', 1, { hours: 25 })
  await journal('delete-user', 1, { approved: true })
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

async function forgetOtherDecisions(of: SyncTarget, open: readonly string[] = []): Promise<void> {
  const judged = { user: new Set<string>(), group: new Set<string>() }
  const forget = await decisionsOver(db, of, { open, unjudged: async () => judged, asked: () => [] })
  await forget(db)
}

test('a decision is forgotten when its change is no longer wanted, and no other sync loses one', async () => {
  await decide(db, await hold('wanted', 'gone'), { decision: 'approved', by: 'ada' }, async () => undefined)
  await forgetOtherDecisions({ sync: 'another sync', target: TARGET })
  await forgetOtherDecisions({ sync, target: 'https://elsewhere.example' })
  expect((await decisionsOf(db, { sync, target: TARGET, isUndo: false })).approved).toEqual(
    new Set(['wanted', 'gone']),
  )
  await forgetOtherDecisions({ sync, target: TARGET }, ['wanted'])
  expect((await decisionsOf(db, { sync, target: TARGET, isUndo: false })).approved).toEqual(
    new Set(['wanted']),
  )
})

test('what is known of groups within groups is kept, also where only the strangers around them changed', async () => {
  const run = (await findRun(db, await ask()))!
  const ids = new Map([['cn=inner,dc=org', 'inner']])
  for (const digest of ['', 'b4a186053bb41f5b']) {
    const nesting = { ids, strangers: new Map([['outer', digest]]) }
    await storeLastGood(db, run, { ...GOOD, nesting }, {})
    expect((await lastGood(db, sync, TARGET))?.nesting).toEqual(nesting)
  }
})

test('where each group lists members is kept, also where nothing else changed', async () => {
  const run = (await findRun(db, await ask()))!
  for (const attributes of [['member'], ['member', 'memberUid']]) {
    const memberLists = new Map([['g', attributes]])
    await storeLastGood(db, run, { ...GOOD, memberLists }, {})
    expect((await lastGood(db, sync, TARGET))?.memberLists).toEqual(memberLists)
  }
})

const GOOD = {
  users: 1,
  groups: 2,
  groupsWithMembers: 2,
  nesting: { ids: new Map(), strangers: new Map() },
  memberLists: new Map(),
  waitingGroups: new Set<string>(),
  server: undefined,
}

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

test.each([
  ['approve', 'approve'],
  ['approve', 'reject'],
  ['reject', 'reject'],
] as const)('a hold that was decided before (%s) refuses to %s it', async (first, what) => {
  const woken: string[] = []
  const control = createLocalControl({
    db,
    targets: new Map([[sync, TARGET]]),
    wake: async (name) => void woken.push(name),
  })
  const run = await hold('a')
  await control[first]({ run, by: 'ada', reason: 'I looked' })
  const [applying] = await control.runs({ sync, limit: 1 })
  const decided =
    first === 'reject'
      ? 'rejected by ada at .*Z: "I looked"'
      : 'approved by ada at .*Z: "I looked"; run .* applies it'
  const refusal = new RegExp(
    `^Run ${run} has no open hold: it was ${decided.replace('.* ', `${applying!.run} `)}.$`,
  )
  await expect(control[what]({ run, by: 'bob' })).rejects.toThrow(refusal)
  const { approved, rejected } = await decisionsOf(db, { sync, target: TARGET, isUndo: false })
  expect(approved.has('a') ? 'approve' : 'reject').toBe(first)
  if (first === 'reject') expect(rejected.get('a')?.by).toBe('ada')
  expect(woken).toEqual(first === 'approve' ? [sync] : [])
})

test('a hold whose approved changes are applied asks for no other run', async () => {
  const targets = new Map([[sync, TARGET]])
  const control = createLocalControl({ db, targets, wake: async () => undefined })
  const run = await hold('a')
  await control.approve({ run: run, by: 'ada' })
  await forgetOtherDecisions({ sync, target: TARGET })
  await db
    .updateTable('dirsyncd.runs')
    .set({ finished_at: new Date() })
    .where('approval_of', '=', run)
    .execute()
  const again = control.approve({ run: run, by: 'bob' })
  await expect(again).rejects.toThrow(
    new RegExp(`^Run ${run} has no open hold: it was approved by ada at \\S+ \\S+Z.$`),
  )
})

test('what was rejected may be approved later', async () => {
  const targets = new Map([[sync, TARGET]])
  const control = createLocalControl({ db, targets, wake: async () => undefined })
  const run = await hold('a')
  await control.reject({ run: run, by: 'ada' })
  await expect(control.approve({ run, by: 'bob', seen: 'open' })).rejects.toThrow(
    /was rejected by ada at .*Z, before your decision, which is not recorded; look at the run again/,
  )
  await control.approve({ run, by: 'bob', seen: 'rejected' })
  expect(await decisionsOf(db, { sync, target: TARGET, isUndo: false })).toEqual({
    approved: new Set(['a']),
    rejected: new Map(),
  })
})

test.each([
  ['rejected', 'held', 'alone'],
  ['open', 'held', 'alone'],
  ['rejected', 'done', 'whole'],
  ['open', 'done', 'by-name'],
  ['replaced', 'held', null],
] as const)(
  'what was rejected in a hold that is %s of a run that is %s says what releases it',
  async (...of) => {
    const [held, state, release] = of
    const run = await hold('a')
    await decide(db, run, { decision: 'rejected', by: 'ada' }, async () => undefined)
    await db.updateTable('dirsyncd.runs').set({ hold: held, state }).where('run', '=', run).execute()
    const { rejected } = await decisionsOf(db, { sync, target: TARGET, isUndo: false })
    expect(rejected.get('a')).toEqual({ by: 'ada', at: expect.stringMatching(/^\d{4}-/), run, release })
  },
)

test('two people who decide on two guards at once are both heard', async () => {
  const targets = new Map([[sync, TARGET]])
  const control = createLocalControl({ db, targets, wake: async () => undefined })
  for (let turn = 0; turn < 5; turn++) {
    const run = (await findRun(db, await ask()))!
    const breaches = [MAX_DELETES, MAX_MOVED_IDS].map((block) => ({
      ...block,
      changes: [`${block.code} ${turn}`],
    }))
    await writeFenced(store, run.run, async (trx) => {
      await setRunState(trx, run.run, 'planning', { breaches })
      await holdRun(trx, run, 'held', { ...NEW_HOLD, held: atOnce(heldRows(breaches)) })
    })
    await Promise.all([
      control.approve({ run: run.run, by: 'ada', only: ['max-deletes-users'] }),
      control.reject({ run: run.run, by: 'bob', only: ['max-moved-ids'] }),
    ])
    expect(await findRun(db, run.run)).toMatchObject({
      hold: 'rejected',
      breaches: [{ decided: 'approved' }, { decided: 'rejected' }],
    })
  }
})

test.each([
  ['approve', 'approve'],
  ['reject', 'reject'],
  ['approve', 'reject'],
  ['reject', 'approve'],
] as const)('of two people who %s and %s the same hold at once one is heard', async (first, second) => {
  const targets = new Map([[sync, TARGET]])
  const control = createLocalControl({ db, targets, wake: async () => undefined })
  const run = await hold('a')
  const [locked, bothWait] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const locking = db.transaction().execute(async (trx) => {
    await sql`SELECT FROM dirsyncd.runs WHERE run = ${run} FOR UPDATE`.execute(trx)
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
  expect(told).toMatchObject({
    status: 'rejected',
    reason: { message: expect.stringMatching(/was (approved|rejected) by ada at \d{4}-/) },
  })
  expect(await findRun(db, run)).toMatchObject({ hold: first === 'approve' ? 'approved' : 'rejected' })
})

test('a hold that somebody decides on while another run replaces it stays decided', async () => {
  const run = await hold('a')
  const [written, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const deciding = db.transaction().execute(async (trx) => {
    await trx.updateTable('dirsyncd.runs').set({ hold: 'rejected' }).where('run', '=', run).execute()
    written.resolve()
    await seen.promise
  })
  await written.promise
  const replacing = hold('b')
  await expect.poll(() => waitingForLocks()).toBe(1)
  seen.resolve()
  await Promise.all([deciding, replacing])
  expect(await findRun(db, run)).toMatchObject({ hold: 'rejected' })
  expect(await findRun(db, await replacing)).toMatchObject({ hold: 'open' })
})

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
  return rows[0]!.count
}
