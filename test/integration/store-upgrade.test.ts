import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeChunksOfEndedRuns } from '../../src/apply/claim.ts'
import { forEachInSteps } from '../../src/directory/steps.ts'
import { runExitCode } from '../../src/cli/exit-code.ts'
import { createLocalControl } from '../../src/control/local.ts'
import { heldBreaches } from '../../src/store/held-changes.ts'
import { interruptRuns } from '../../src/store/interruptions.ts'
import { findRun, type RunRecord, withLease } from '../../src/store/runs.ts'
import { deletedLastDay } from '../../src/store/journal.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { backendNamed, openBoth, type OpenBackend } from '../support/backends.ts'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import { copyAsOlderStore, createOlderStore } from '../support/older-store.ts'
import { inLong } from '../support/long.ts'
import { readService } from '../support/read-service.ts'
import { type RunningService, startService } from '../support/service.ts'
import { type MutableCompany, openSyncHarness } from '../support/sync-harness.ts'
import { QUICK } from '../support/times.ts'

const SALES = ['s1', 's2', 's3', 's4', 's5', 's6']
/** The first version that made runs, and all after it but the present one. */
const ALL_VERSIONS = Object.keys(migrations).slice(1, -1)
const VERSIONS = ALL_VERSIONS.slice(inLong(-3, 0))

let service: RunningService

beforeAll(async () => {
  service = await startService({ fixture: emptyDirectoriesFixture(100, VERSIONS.length) })
})
afterAll(() => service?.close())

describe.each(VERSIONS)('a store whose last migration is %s', (last) => {
  const stack = new AsyncDisposableStack()
  const sync = `upgrade-${last}`
  const directoryId = 100 + VERSIONS.indexOf(last)
  const company: MutableCompany = { users: new Map(), groups: new Map() }
  afterAll(() => stack.disposeAsync())

  function hire(id: string): void {
    company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
  }

  const open = (opened: OpenBackend) =>
    openSyncHarness(opened, {
      sync,
      service: { baseUrl: service.baseUrl, organizationId: 1, directoryId },
      token: () => FIXTURE.token,
      company,
      maxUserDeletes: 1,
      asRead: (snapshot) => ({
        ...snapshot,
        nestedGroups: new Map([['cn=nested,ou=groups', 'nested']]),
        eachPlace: (kind, visit) =>
          forEachInSteps(snapshot.seen[kind], (id) => visit(id, id.startsWith('s') ? 'ou=sales' : 'ou=labs')),
      }),
    })

  const users = async () => {
    const place = { ...FIXTURE, baseUrl: service.baseUrl, organizationId: 1, directoryId }
    return [...(await readService(place)).users.keys()].toSorted()
  }

  function leave(...ids: readonly string[]): void {
    for (const id of ids) company.users.delete(id)
    company.groups.set('all', { name: 'All', members: [...company.users.keys()] })
  }

  /** Makes a run, has the deletes of a second one rejected, and is killed while a third one applies its plan. */
  async function runAndBeKilled(opened: OpenBackend): Promise<{ interrupted: number; rejected: RunRecord }> {
    await using harness = open(opened)
    await harness.startWorker()
    expect(await harness.sync()).toMatchObject({ state: 'done', error: null })
    leave('o1', 'o2')
    const held = await harness.sync()
    expect(held).toMatchObject({ state: 'held' })
    await control(opened).reject({ run: held.run, by: 'ada' })
    await harness[Symbol.asyncDispose]()
    hire('begun')
    await using killed = open(opened)
    const run = await killed.requestRun()
    const working = killed.executor.work(sync, { scheduled: false })
    await expect.poll(async () => (await killed.getRun(run)).state).toBe('applying')
    await killed[Symbol.asyncDispose]()
    await working
    return { interrupted: run, rejected: await killed.getRun(held.run) }
  }

  function control({ store }: OpenBackend) {
    const targets = new Map([[sync, `${service.baseUrl}/directories/${directoryId}`]])
    return createLocalControl({ db: store.db, targets, wake: async () => undefined })
  }

  test('goes on where its last run was interrupted, keeps what a person decided, and believes no half truth', async () => {
    for (const id of [...SALES, 'o1', 'o2', 'o3']) hire(id)
    leave()
    company.groups.set('nested', { name: 'Nested', members: ['o3'] })
    const present = await backendNamed('postgres').open()
    const { interrupted, rejected } = await runAndBeKilled(present)
    const url = await copyAsOlderStore(urlOf(present), last)
    await present.close()

    const upgraded = await openBoth({ kind: 'postgres', url })
    stack.defer(() => upgraded.close())
    const { db } = upgraded.store
    const after = (await findRun(db, rejected.run))!
    expect(after.breaches).toEqual(rejected.breaches)
    expect((await heldBreaches(db, rejected.run, after.breaches!))[0]!.changes).toHaveLength(2)
    await using harness = open(upgraded)
    await harness.startWorker()
    const next = await harness.sync()
    expect(await harness.getRun(interrupted)).toMatchObject({ state: 'failed' })
    expect(next).toMatchObject({ state: 'done', error: null })
    expect(runExitCode(next)).toBe(0)
    const everybody = ['begun', 'o1', 'o2', 'o3', ...SALES]
    expect(await users()).toEqual(everybody)
    leave(...SALES)
    expect(runExitCode(await harness.sync())).toBe(3)
    expect(await users()).toEqual(everybody)
  })
})

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
    opening = openStore({ kind: 'postgres', url }).then((opened) => (store = stack.use(opened)))
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

function urlOf({ storeOptions }: OpenBackend): string {
  if (storeOptions.kind !== 'postgres') throw new Error('only a store on a server is copied')
  return storeOptions.url
}
