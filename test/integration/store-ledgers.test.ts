import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { atOnce } from '../../src/base/steps.ts'
import type { Shown } from '../../src/core/decide.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../../src/core/decisions.ts'
import { type Key, keyText } from '../../src/core/keys.ts'
import { takeBaseline } from '../../src/core/plan/baseline.ts'
import { addRun } from '../../src/store/runs.ts'
import { loadStates, packStates } from '../../src/store/check-states.ts'
import { readLedger } from '../../src/operations/open-questions.ts'
import {
  addDecision,
  countOpen,
  loadLedger,
  lockLedger,
  packLedger,
  packShown,
  saveLedger,
  shownIn,
} from '../../src/store/ledgers.ts'
import { openStore } from '../../src/store/open.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { tempDir } from '../support/temp.ts'

const OF = { sync: 'corp', target: 't', origin: 'sync' }

async function emptyStore() {
  const stack = new AsyncDisposableStack()
  onTestFinished(() => stack.disposeAsync())
  const { path: dataDir } = stack.use(await tempDir())
  await putEmptyStore(dataDir)
  const { db } = stack.use(await openStore({ kind: 'embedded', dataDir }))
  const newRun = () => addRun(db, { sync: 'corp', target: 't', mode: 'sync', trigger: 'schedule' })
  await lockLedger(db, OF)
  return { db, newRun }
}

type Db = Awaited<ReturnType<typeof emptyStore>>['db']

async function save(db: Db, ledger: Ledger, folded: number): Promise<void> {
  await saveLedger(db, OF, { set: await packLedger(ledger), folded, open: ledger.blocked.size })
}

async function openIn(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ open: number }>`SELECT open FROM dirsyncd.ledgers`.execute(db)
  return rows[0]?.open
}

const leave = (id: string): Key => ['user', id, 'leave']

function shownAs(code: string, ids: readonly string[], waiting: readonly Key[] = []): Shown {
  return { run: 3, codes: new Map(ids.map((id) => [keyText(leave(id)), new Set([code])])), waiting }
}

function asking(code: string, ids: readonly string[]): Ledger {
  const asks = new Set([code])
  return { ...EMPTY_LEDGER, blocked: new Map(ids.map((id) => [keyText(leave(id)), { since: 1, asks }])) }
}

const plain = { does: 'approve', by: 'ana', reason: 'they left', selection: {} } as const

test('a decision that comes while a run is under way is in the ledger of the next one', async () => {
  const { db, newRun } = await emptyStore()
  const run = await newRun()
  await (
    await packShown(shownAs('max-deletes-users', ['a', 'b']))
  )(db, run)
  await save(db, asking('max-deletes-users', ['a', 'b']), 0)
  const underWay = await loadLedger(db, OF)
  await addDecision(db, OF, { ...plain, run, selection: { ids: ['a'] } }, { keys: 1, open: 1 })
  await save(db, underWay.ledger, underWay.folded)
  expect(await openIn(db)).toBe(1)
  const { ledger, folded } = await loadLedger(db, OF)
  const decisions = new Decisions(ledger)
  expect(['a', 'b'].map((id) => decisions.isApproved(leave(id)))).toEqual([true, false])
  expect(['a', 'b'].map((id) => decisions.isOpen(leave(id)))).toEqual([false, true])
  await save(db, ledger, folded)
  expect((await loadLedger(db, OF)).ledger).toEqual(ledger)
})

test('a list that is read part by part shows each decision at once', async () => {
  const { db, newRun } = await emptyStore()
  const run = await newRun()
  expect(await readLedger(db, OF)).toEqual(EMPTY_LEDGER)
  await (
    await packShown(shownAs('max-deletes-users', ['a', 'b']))
  )(db, run)
  await save(db, asking('max-deletes-users', ['a', 'b']), 0)
  const isOpen = async (id: string) => new Decisions(await readLedger(db, OF)).isOpen(leave(id))
  expect([await isOpen('a'), await isOpen('b')]).toEqual([true, true])
  expect(await readLedger(db, OF)).toBe(await readLedger(db, OF))
  for (const [id, open] of [
    ['a', 1],
    ['b', 0],
  ] as const) {
    await addDecision(db, OF, { ...plain, run, selection: { ids: [id] } }, { keys: 1, open })
    expect(await isOpen(id)).toBe(false)
  }
  expect(await readLedger(db, { ...OF, origin: 'undo 7' })).toEqual(EMPTY_LEDGER)
})

test('what was decided, by whom and when, and what is left of it, comes back as it was', async () => {
  const { db } = await emptyStore()
  const at = new Date('2026-03-01T10:00:00Z')
  const ledger: Ledger = {
    blocked: new Map([
      [keyText(leave('a')), { since: 5, asks: new Set(['container-emptied', 'max-deletes-users']) }],
    ]),
    approvals: new Map([
      [keyText(leave('b')), { codes: new Set(['first-contact']), run: 6, by: 'bob', at, isUsed: true }],
    ]),
    rejections: new Map([[keyText(leave('c')), { run: 7, by: 'ana', at, reason: 'still here' }]]),
  }
  await save(db, ledger, 3)
  expect(await loadLedger(db, OF)).toMatchObject({ ledger, folded: 3 })
  expect((await loadLedger(db, { ...OF, origin: 'undo 7' })).ledger).toEqual(EMPTY_LEDGER)
})

test('a membership of a user whose delete is approved is a question of its own', async () => {
  const member: Key = ['group', 'g', '-member', 'a']
  const blocked = new Map([
    [keyText(leave('a')), { since: 1, asks: new Set(['container-emptied']) }],
    [keyText(member), { since: 1, asks: new Set(['max-deletes-memberships']) }],
  ])
  const approval = { codes: new Set(['container-emptied']), run: 3, by: 'ana', at: new Date(), isUsed: true }
  expect(await countOpen({ ...EMPTY_LEDGER, blocked })).toBe(1)
  const approvals = new Map([[keyText(leave('a')), approval]])
  expect(await countOpen({ ...EMPTY_LEDGER, blocked, approvals })).toBe(1)
})

test('a plan that is held again each 15 minutes is stored once', async () => {
  const { db, newRun } = await emptyStore()
  const create: Key = ['user', 'n', 'create']
  for (let time = 0; time < 3; time += 1)
    await (
      await packShown(shownAs('max-deletes-users', ['a'], [create]))
    )(db, await newRun())
  const { rows } = await sql`SELECT digest FROM dirsyncd.key_sets`.execute(db)
  expect(rows).toHaveLength(1)
  expect(await shownIn(db, 3)).toEqual({
    ...shownAs('max-deletes-users', ['a']),
    waiting: [create],
  })
})

test('states of checks come back as they were, those of the configuration for each directory', async () => {
  const { db } = await emptyStore()
  const since = new Date('2026-03-01T10:00:00Z')
  const states = {
    grace: { user: new Map([['a', { since, reads: 2 }]]), group: new Map() },
    server: { url: 'ldap://one', address: '192.0.2.1', hints: {} },
    size: { users: 3, groups: 1 },
    configuration: { run: 4, options: { 'users.filter': 'hash' } },
    containers: { user: atOnce(takeBaseline(visitAll)), group: atOnce(takeBaseline(visitAll)) },
    groups: new Map([
      ['g', { dn: 'cn=g', lists: new Map([['member', 6]]), nested: ['h'], doubted: new Set(['member']) }],
      ['h', { dn: 'cn=h', lists: new Map([['member', 2]]), nested: [] }],
    ]),
  }
  await (
    await packStates(states)
  )(db, OF)
  expect(await loadStates(db, OF)).toEqual(states)
  const { configuration } = states
  expect(await loadStates(db, { sync: 'corp', target: 'another' })).toEqual({ configuration })
})

function* visitAll(visit: (id: string, container: string) => void) {
  visit('a', 'ou=one,dc=x')
  visit('b', 'ou=two,dc=x')
  yield
}
