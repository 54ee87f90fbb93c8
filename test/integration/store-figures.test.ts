import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { createOverview } from '../../src/compose/overview.ts'
import { ReadyLook } from '../../src/compose/ready-look.ts'
import { whyDaemonIsNotReady } from '../../src/compose/readiness.ts'
import { silentLog } from '../../src/base/log/log.ts'
import type { Site } from '../../src/compose/site.ts'
import { decide } from '../../src/operations/decide.ts'
import { createLog } from '../../src/base/log/log.ts'
import { DirsyncdError } from '../../src/base/errors.ts'
import { Metrics } from '../../src/ui/metrics/metrics.ts'
import { DaemonFigures } from '../../src/compose/daemon-figures.ts'
import { figuresOf, storeBytes, type SyncFigures } from '../../src/store/figures.ts'
import { pauseSync, resumeSync } from '../../src/store/paused-syncs.ts'
import { pauseFor, pauseForOutage } from '../../src/store/pause.ts'
import { TokenWatch } from '../../src/store/token-watch.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('figures')
const { hire, fire } = bed

const PLACE = { origin: 'https://access.example.com', place: 'file /run/secrets/token' }
const DAY = 86_400

function ids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, nth) => `u${nth}`)
}

/** Those of the test's sync, and of another one, to which nothing of it belongs. */
async function figures(): Promise<SyncFigures> {
  const other = {
    sync: `${bed.sync}-never`,
    target: `${bed.target}0`,
    origin: PLACE.origin,
    place: 'env OTHER',
  }
  const all = await figuresOf(bed.db, [{ sync: bed.sync, target: bed.target, ...PLACE }, other])
  expect(all[1]).toEqual({
    sync: other.sync,
    lastAttempt: null,
    lastFullRead: null,
    lastSuccess: null,
    lastDecision: null,
    failures: 0,
    error: null,
    planned: null,
    newRejection: null,
    asking: null,
    isPaused: false,
    isUnderWay: false,
    quarantined: 0,
    pending: 0,
    pendingSeconds: 0,
    pause: null,
    outages: 0,
    token: null,
  })
  return all[0]!
}

test('attempts, full reads and successes are told apart', async () => {
  let isBroken = false
  const onRead = async () => {
    if (isBroken) throw new DirsyncdError('source-unreachable', 'ldap://a cannot be reached')
  }
  const harness = await bed.openWithWorker({ maxUserDeletes: 5, onRead })
  hire(...ids(20))
  await harness.sync()
  const good = await figures()
  expect(good).toMatchObject({ failures: 0, error: null, asking: null, quarantined: 0, isUnderWay: false })
  expect(good.planned).toMatchObject({
    state: 'done',
    counts: { sourceUsers: 20, planned: { 'create-user': 20 } },
  })

  await harness.sync({ mode: 'plan' })
  expect((await figures()).lastAttempt).toEqual(good.lastAttempt)

  fire(...ids(10))
  const held = await harness.sync()
  const asking = await figures()
  expect(asking.asking).toMatchObject({
    run: held.run,
    state: 'held',
    questions: 10,
    counts: { asking: { 'delete-user': 10 } },
    blocks: expect.arrayContaining([expect.objectContaining({ code: 'max-deletes-users', changes: 10 })]),
  })
  expect(asking.lastFullRead! > good.lastFullRead!).toBe(true)
  expect(asking.lastSuccess).toEqual(good.lastSuccess)

  isBroken = true
  for (const failures of [1, 2, 3]) {
    await harness.sync()
    expect(await figures()).toMatchObject({
      failures,
      error: 'ldap://a cannot be reached',
      lastFullRead: asking.lastFullRead,
      lastSuccess: good.lastSuccess,
      planned: { run: held.run },
    })
  }
  isBroken = false
  const again = await harness.sync()
  expect(await figures()).toMatchObject({
    failures: 0,
    error: null,
    asking: { run: again.run, questions: 10 },
  })
})

test('what an operator rejected is told at once, and by each later run', async () => {
  const harness = await bed.openWithWorker({ maxUserDeletes: 5 })
  hire(...ids(20))
  await harness.sync()
  fire(...ids(10))
  const { run } = await harness.sync()
  await harness.control.reject({ run, by: 'ana', reason: 'on leave' })
  const last = { run, by: 'ana', at: expect.any(String), reason: 'on leave' }
  expect(await figures()).toMatchObject({ asking: null, newRejection: last })
  await harness.sync()
  const counts = { rejected: { 'delete-user': 10 }, lastRejection: last }
  expect(await figures()).toMatchObject({
    asking: null,
    newRejection: null,
    planned: { state: 'done', counts },
  })
  await harness.approve(run, { isAll: undefined, code: 'rejected' })
  expect(await figures()).toMatchObject({ asking: null, planned: { counts: { rejected: {} } } })
})

test('a run that was left on purpose or paused has not failed', async () => {
  const harness = bed.open({
    onRead: async () => {
      throw new DirsyncdError('source-unreachable', 'gone')
    },
  })
  await harness.sync()
  for (const how of [sql`left_orderly = true`, sql`stop_code = 'sync-paused'`]) {
    const { run } = await harness.sync()
    expect((await figures()).failures).toBe(2)
    await sql`UPDATE dirsyncd.runs SET ${how} WHERE run = ${run}`.execute(bed.db)
    expect((await figures()).failures).toBe(1)
  }
  await pauseSync(bed.db, { sync: bed.sync, by: 'ana' })
  expect(await figures()).toMatchObject({ isPaused: true })
})

test('what is refused, waits or lives on is counted', async () => {
  const harness = await bed.openWithWorker()
  hire(...ids(3))
  bed.company.users.set('bad', { name: 'Bad', email: 'bad@other.example' })
  const { run } = await harness.sync()
  const before = await figures()
  expect(before).toMatchObject({ quarantined: 1, pause: null, outages: 0, token: null })
  await harness.undo(run, { ids: ['u0'] })
  expect((await figures()).lastAttempt).toEqual(before.lastAttempt)

  await pauseFor(bed.db, bed.target, 60_000)
  expect((await figures()).pause).toMatchObject({ why: 'limited' })
  await sql`UPDATE dirsyncd.targets SET not_before = now()`.execute(bed.db)
  await pauseForOutage(bed.db, bed.target, { firstMs: 30_000, lastMs: 60_000 })
  const { pause, outages } = await figures()
  expect([pause?.why, outages]).toEqual(['outage', 1])
  expect(pause!.leftMs).toBeGreaterThan(20_000)

  const watch = new TokenWatch({ db: bed.db, log: createLog('silent'), ...PLACE })
  watch.see(365 * DAY)
  await watch.settle()
  const { token } = await figures()
  expect(token!.isSoon).toBe(false)
  expect(token!.secondsLeft).toBeCloseTo(365 * DAY, -2)
  await sql`UPDATE dirsyncd.token_lives SET expires_at = now() + interval '2 days'`.execute(bed.db)
  expect((await figures()).token).toMatchObject({ isSoon: true })
  expect(await storeBytes(bed.db)).toBeGreaterThan(1_000_000)
})

test('changes are pending while a run applies them', async () => {
  const harness = await bed.openWithWorker()
  hire(...ids(30))
  const seen: SyncFigures[] = []
  let created = 0
  bed.proxy.intercept = async ({ method }) => {
    if (created < 30 && (method === 'POST' || created > 0)) seen.push(await figures())
    if (method === 'POST') created += 1
    return undefined
  }
  await harness.sync()
  const [first] = seen
  expect(first).toMatchObject({ isUnderWay: true, lastSuccess: null, pending: 30 })
  expect(first!.pendingSeconds).toBeGreaterThan(0)
  // Also while the first ones are read back, before the rest is sent.
  expect(Math.min(...seen.map(({ pending }) => pending))).toBeGreaterThan(0)
  expect(await figures()).toMatchObject({ isUnderWay: false, pending: 0, pendingSeconds: 0 })
})

const EVERY_TEN_MINUTES = { kind: 'interval', everyMs: 600_000 }

function siteOf(schedule: object | null): { readonly site: Site; readonly config: Config } {
  const [, organization, directory] = /organizations\/(\d+)\/admin\/directories\/(\d+)$/.exec(bed.target) ?? [
    '',
    '1',
    '7',
  ]
  const token = { describe: () => PLACE.place }
  const section = {
    baseUrl: bed.proxy.baseUrl,
    organizationId: Number(organization),
    directoryId: Number(directory),
    token,
  }
  const config = {
    syncs: [{ name: bed.sync, schedule: schedule ?? undefined, directory: section }],
    notifications: { channels: [] },
  } as unknown as Config
  const { store, backend } = bed.opened
  return { site: { store, backend } as unknown as Site, config }
}

/** Why a daemon that has been up for this long is not ready, whose sync is to run every ten minutes. */
async function whyNot(upMinutes: number, schedule: object | null = EVERY_TEN_MINUTES) {
  const { site, config } = siteOf(schedule)
  return (await whyDaemonIsNotReady(site, config, new Date(Date.now() - upMinutes * 60_000)))?.why
}

/** Whether an alert compares the last read with what the schedule called for. */
async function isDueInMetrics(): Promise<boolean> {
  const { site, config } = siteOf(EVERY_TEN_MINUTES)
  const metrics = new Metrics('test')
  await new DaemonFigures(site, metrics, () => config).read()
  return (await metrics.text()).includes('dirsyncd_sync_due_timestamp_seconds{')
}

async function stateInOverview(): Promise<string | undefined> {
  const { site, config } = siteOf(EVERY_TEN_MINUTES)
  return (await createOverview(site, () => config)())[0]?.state
}

/** All runs were so long ago, and wrote to the directory of `siteOf`. */
async function at(minutes: number): Promise<string> {
  const target = `${bed.proxy.baseUrl}/api/v2/organizations/1/admin/directories/7`
  await sql`UPDATE dirsyncd.runs SET target = ${target}, started_at = now() - make_interval(mins => ${minutes}),
    finished_at = now() - make_interval(mins => ${minutes}) WHERE sync = ${bed.sync}`.execute(bed.db)
  return target
}

test('a daemon is ready until a sync has not succeeded for three times of its schedule', async () => {
  const harness = await bed.openWithWorker({ maxUserDeletes: 5 })
  hire(...ids(20))
  expect(await whyNot(600)).toBeUndefined()
  await harness.sync()
  await at(15)
  expect(await whyNot(600)).toBeUndefined()
  await at(40)
  expect(await whyNot(600)).toBe(
    `the sync ${bed.sync} has not succeeded since its schedule called for it three times`,
  )
  expect(await whyNot(5)).toBeUndefined()
  expect(await whyNot(600, null)).toBeUndefined()
  await pauseSync(bed.db, { sync: bed.sync, by: 'ana' })
  expect(await whyNot(600)).toBeUndefined()
  expect(await isDueInMetrics()).toBe(true)
  await resumeSync(bed.db, bed.sync)
  expect([await whyNot(600), await stateInOverview()]).toEqual([undefined, 'ok'])
  expect(await isDueInMetrics()).toBe(false)
  await sql`UPDATE dirsyncd.resumed_syncs SET at = now() - interval '40 min'`.execute(bed.db)
  expect([await whyNot(600), await stateInOverview()]).toEqual([
    expect.stringContaining('not succeeded'),
    'late',
  ])
})

test('a sync is not late while it asks, nor soon after a decision, and never looks well meanwhile', async () => {
  const harness = await bed.openWithWorker({ maxUserDeletes: 5 })
  hire(...ids(20))
  await harness.sync()
  fire(...ids(10))
  const { run } = await harness.sync()
  const target = await at(40)
  await sql`UPDATE dirsyncd.ledgers SET target = ${target} WHERE sync = ${bed.sync}`.execute(bed.db)
  expect([await whyNot(600), await stateInOverview()]).toEqual([undefined, 'asking'])
  const decided = {
    db: bed.db,
    targets: new Map([[bed.sync, target]]),
    request: vi.fn<() => Promise<number>>().mockResolvedValue(0),
  }
  for (const does of ['reject', 'approve'] as const) {
    const code = does === 'reject' ? 'max-deletes-users' : 'rejected'
    await decide(decided, does, { run, by: 'ana', code })
    // Until the run that an approval starts.
    expect([await whyNot(600), await stateInOverview()]).toEqual([undefined, 'rejected'])
    await sql`UPDATE dirsyncd.decisions SET decided_at = now() - interval '40 min' WHERE run = ${run}`.execute(
      bed.db,
    )
    expect(await whyNot(600)).toContain('has not succeeded since its schedule called for it three times')
    expect(await stateInOverview()).toBe('late')
  }
})

test('a daemon whose store hangs says so to all who ask, and asks the store once', async () => {
  const { site, config } = siteOf(EVERY_TEN_MINUTES)
  const look = () => whyDaemonIsNotReady(site, config, new Date())
  const ready = new ReadyLook(look, silentLog(), { patience: 300, fresh: 1, abandon: 600_000 })
  expect(await ready.why()).toBeUndefined()
  await bed.db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE dirsyncd.runs IN ACCESS EXCLUSIVE MODE`.execute(trx)
    await expect.poll(() => ready.why()).toBe('the store or the queue does not answer')
    const answers = await Promise.all(Array.from({ length: 20 }, () => ready.why()))
    expect(new Set(answers)).toEqual(new Set(['the store or the queue does not answer']))
    const waiting = async () => {
      const { rows } = await sql<{ queries: number }>`SELECT count(*)::int AS queries FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(trx)
      return rows[0]?.queries
    }
    await expect.poll(waiting).toBe(1)
  })
  await expect.poll(() => ready.why()).toBeUndefined()
})
