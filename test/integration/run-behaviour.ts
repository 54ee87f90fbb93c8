import { reasonText } from '../../src/ui/messages/blocks.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { ErrorCode } from 'bullmq'
import { Cron } from 'croner'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  openRunsQueue,
  restoreSchedules,
  setSchedules,
  startRunsWorker,
  wake,
  type WakeJob,
} from '../../src/queue/runs.ts'
import { loadStates } from '../../src/store/check-states.ts'
import { addRun, listRuns } from '../../src/store/runs.ts'
import { changesOf } from '../../src/store/change-list.ts'
import { type ApiProxy, type ProxiedRequest, startApiProxy } from '../support/api-proxy.ts'
import { type NamedBackend, backendNamed, type OpenBackend } from '../support/backends.ts'
import { queueTexts } from '../support/queue-texts.ts'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { callService, readService } from '../support/read-service.ts'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import { type RunningService, startService } from '../support/service.ts'
import {
  type MutableCompany,
  openSyncHarness,
  type SyncHarness,
  type SyncHarnessOptions,
} from '../support/sync-harness.ts'
import { OUTAGE_MS, outlastOutage } from '../support/run-clock.ts'
import { watchLoad } from '../support/machine-load.ts'
import { QUICK } from '../support/times.ts'
import { eventually } from '../support/eventually.ts'

/** One for each test. */
const DIRECTORIES = 100
const FIRST_DIRECTORY = 100

let service: RunningService
let proxy: ApiProxy
let tests = 0

/** What runs do on one kind of store and queue. A test file for each kind, so that they wait beside each other. */
export function describeRuns(kind: NamedBackend['name'], range: 'core' | 'all'): void {
  beforeAll(async () => {
    service = await startService({ fixture: emptyDirectoriesFixture(FIRST_DIRECTORY, DIRECTORIES) })
    proxy = await startApiProxy(service.baseUrl)
  })
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]()
    await service?.close()
  })

  const { open } = backendNamed(kind)
  describe(`runs on ${kind}`, () => {
    let opened: OpenBackend
    let stack: AsyncDisposableStack
    let directoryId: number
    let name: string
    let token: string
    let company: MutableCompany

    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close())

    beforeEach(() => {
      stack = new AsyncDisposableStack()
      directoryId = FIRST_DIRECTORY + tests
      name = `sync-${tests}`
      tests += 1
      token = FIXTURE.token
      company = { users: new Map(), groups: new Map() }
      for (let index = 0; index < 12; index++) hire(`u${index}`)
      company.groups.set('g1', { name: 'One', members: ['u1', 'u2', 'u3'] })
      company.groups.set('g2', { name: 'Two', members: ['u3', 'u4'] })
      proxy.intercept = () => undefined
    })
    afterEach(() => stack.disposeAsync())

    function hire(id: string, email = `${id}@example.org`): void {
      company.users.set(id, { name: `Person ${id}`, email })
    }

    /** Through the proxy, because a target is a base URL and there is one service for all. */
    function harness(options: Partial<SyncHarnessOptions> = {}): SyncHarness {
      const place = { baseUrl: proxy.baseUrl, organizationId: 1, directoryId }
      return stack.use(
        openSyncHarness(opened, { sync: name, service: place, token: () => token, company, ...options }),
      )
    }

    function seen() {
      return readService({ ...FIXTURE, baseUrl: service.baseUrl, organizationId: 1, directoryId })
    }

    async function expectEqual(): Promise<void> {
      expect(await seen()).toEqual({ ...company, duplicates: [] })
    }

    /** What the service's request log says of writes to this test's directory. */
    function writes(): string[] {
      const path = `/admin/directories/${directoryId}/`
      return service
        .requests()
        .filter(({ method, url }) => method !== 'GET' && url.includes(path))
        .map(({ method, url }) => `${method} ${url.slice(url.indexOf(path) + path.length)}`)
    }

    /** A run whose writes the proxy does not let through until its changes wait for the directory. */
    async function runThroughOutage() {
      const { executor, requestRun, startWorker, waitForEnd, messages } = harness()
      await startWorker()
      const asked = await requestRun()
      const working = executor.work(name, { scheduled: false })
      await eventually(() => expect(messages()).toContain('the directory does not answer; changes wait'))
      expect(writes()).toEqual([])
      proxy.intercept = () => undefined
      await working
      return waitForEnd(asked)
    }

    /** Somebody else takes the sync: the epoch goes up, and this process's renewal will find out. */
    async function takeAway(): Promise<void> {
      await sql`UPDATE dirsyncd.leases SET epoch = epoch + 1, owner = 'somebody else', renewed_at = now()
      WHERE sync = ${name}`.execute(opened.store.db)
    }

    async function giveFree(): Promise<void> {
      await sql`UPDATE dirsyncd.leases SET owner = NULL, renewed_at = NULL WHERE sync = ${name}`.execute(
        opened.store.db,
      )
    }

    /** Whatever is created meanwhile comes before the lock or after the directory. */
    async function dropDirectory(): Promise<void> {
      const gone = ['group_members', 'external_groups', 'external_users'].map((table) => {
        return `${table} as (delete from access_management.${table} where directory_id = $1)`
      })
      const query = `with ${gone.join(', ')} delete from access_management.directories where id = $1`
      const client = await service.pool.connect()
      await client.query('begin')
      await client.query('select from access_management.directories where id = $1 for update', [directoryId])
      await client.query(query, [directoryId])
      await client.query('commit')
      client.release()
    }

    describe('a run', () => {
      test('applies everything, and the second one changes nothing', async () => {
        const { sync, startWorker, exitCode } = harness()
        await startWorker()
        const first = await sync()
        expect(first).toMatchObject({ state: 'done', counts: { outcomes: { applied: 16 }, unchanged: 0 } })
        await expectEqual()
        const before = writes().length
        const second = await sync()
        expect(second).toMatchObject({
          state: 'done',
          counts: { planned: EMPTY_OBJECT, outcomes: EMPTY_OBJECT, unchanged: 14 },
        })
        expect(writes()).toHaveLength(before)
        expect(await Promise.all([first, second].map(exitCode))).toEqual([0, 0])
      })

      test('carries over renames, hires, leavers and members, exactly those', async () => {
        const { sync, startWorker } = harness()
        await startWorker()
        await sync()
        const before = writes().length
        company.users.get('u5')!.name = 'Renamed'
        company.users.delete('u3')
        hire('u20', 'u3@example.org')
        company.groups.set('g1', { name: 'One', members: ['u1', 'u2', 'u20'] })
        company.groups.set('g2', { name: 'Two', members: ['u4'] })
        expect(await sync()).toMatchObject({ state: 'done' })
        const [first, ...phase] = writes().slice(before)
        // The first update on this directory is read back before anything is deleted.
        expect([first, phase.pop()]).toEqual(['PATCH users/u5', 'PATCH groups/g1'])
        expect(phase).toEqual(['DELETE users/u3', 'POST users'])
        await expectEqual()
      })

      test('goes through one lease: a second executor does nothing while one has it', async () => {
        const gate = Promise.withResolvers<void>()
        const { executor, otherExecutor, startWorker, requestRun, getRun, waitForEnd } = harness({
          onRead: () => gate.promise,
        })
        await startWorker()
        const asked = await requestRun()
        const working = executor.work(name, { scheduled: false })
        await eventually(async () => expect((await getRun(asked)).state).toBe('reading'))
        await otherExecutor('another process').work(name, { scheduled: true })
        expect(await listRuns(opened.store.db, { sync: name, limit: 10 })).toHaveLength(1)
        gate.resolve()
        await working
        expect(await waitForEnd(asked)).toMatchObject({
          state: 'done',
          counts: { outcomes: { applied: 16 } },
        })
      })

      test('that is asked for while another one works is made afterwards', async () => {
        const gate = Promise.withResolvers<void>()
        const { executor, startWorker, requestRun, getRun, waitForEnd } = harness({
          onRead: () => gate.promise,
        })
        await startWorker()
        const first = await requestRun()
        const working = executor.work(name, { scheduled: false })
        await eventually(async () => expect((await getRun(first)).state).toBe('reading'))
        const more = [await requestRun(), await requestRun()]
        gate.resolve()
        await working
        const runs = await Promise.all([first, ...more].map(waitForEnd))
        expect(runs.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
        expect(runs[1]!.started_at! >= runs[0]!.finished_at!).toBe(true)
        expect(runs[2]!.started_at! >= runs[1]!.finished_at!).toBe(true)
      })
    })

    describe('a run of a single entry', () => {
      test('is no measure of how large the source is', async () => {
        const { executor, startWorker, waitForEnd } = harness()
        await startWorker()
        const target = `${proxy.baseUrl}/directories/${directoryId}`
        const scope = { users: ['u1'], groups: [] }
        const run = await addRun(opened.store.db, {
          sync: name,
          target,
          mode: 'sync',
          trigger: 'demand',
          scope,
        })
        await executor.work(name, { scheduled: false })
        // The user, and the new group that the user joins.
        expect(await waitForEnd(run)).toMatchObject({ state: 'done', counts: { outcomes: { applied: 3 } } })
        expect(await loadStates(opened.store.db, { sync: name, target })).toEqual({})
      })
    })

    describe('an entry that the API refuses', () => {
      test('is quarantined, the others go on, and it is tried again only when it changes', async () => {
        hire('bad', 'bad@elsewhere.example')
        const { sync, startWorker, exitCode } = harness()
        await startWorker()
        const first = await sync()
        expect(first).toMatchObject({ state: 'done', counts: { outcomes: { applied: 16, quarantined: 1 } } })
        expect((await seen()).users.size).toBe(12)
        const before = writes().length

        const second = await sync()
        // What is blocked in one run is blocked in the run after it, too.
        for (const run of [second, await sync()]) {
          expect(run).toMatchObject({
            state: 'done',
            counts: { planned: EMPTY_OBJECT, blocked: { 'create-user': 1 } },
          })
        }
        expect(writes()).toHaveLength(before)
        const [blocked] = await changesOf(opened.store.db, second, 10)
        expect(blocked).toMatchObject({ change: { id: 'bad' }, reasons: [{ code: 'quarantine' }] })
        expect(reasonText(blocked!.reasons[0]!)).toMatch(/422/)

        hire('bad', 'still-bad@elsewhere.example')
        const third = await sync()
        expect(third).toMatchObject({ counts: { outcomes: { quarantined: 1 } } })
        hire('bad', 'good@example.org')
        const fourth = await sync()
        expect(fourth).toMatchObject({ counts: { outcomes: { applied: 1 }, notices: EMPTY_OBJECT } })
        expect(await Promise.all([first, second, third, fourth].map(exitCode))).toEqual([4, 4, 4, 0])
        await expectEqual()
      })

      if (range === 'core') return
      // Workers do the same on every store, and the long tests see it on two.

      test.each([
        [1, 'done', 4],
        // All of them: with several under way at once fewer need not be missing in a row.
        [30, 'failed', 1],
      ])('because somebody deleted %i users after the read: the run is %s', async (gone, state, code) => {
        for (let index = 12; index < 30; index++) hire(`u${index}`)
        let isDeleting = false
        const afterRead = async () => {
          if (!isDeleting) return
          const eye = { ...FIXTURE, baseUrl: service.baseUrl, organizationId: 1, directoryId }
          for (const id of [...company.users.keys()].toSorted().slice(-gone)) {
            expect(await callService(eye, 'DELETE', `/users/${id}`)).toBeLessThan(300)
          }
        }
        const { sync, startWorker, codes, exitCode } = harness({ afterRead })
        await startWorker()
        expect(await sync()).toMatchObject({ state: 'done' })
        for (const [id, user] of company.users) company.users.set(id, { ...user, name: `New ${user.name}` })
        isDeleting = true
        const run = await sync()
        expect(run.state).toBe(state)
        expect(run.counts?.outcomes.missing).toBeGreaterThanOrEqual(Math.min(gone, 21))
        expect(run.counts?.outcomes.missing).toBeLessThanOrEqual(gone)
        expect(await exitCode(run)).toBe(code)
        expect(codes()).toEqual(state === 'done' ? [] : ['directory-unexpected'])
        isDeleting = false
        expect(await sync()).toMatchObject({ error: null, state: 'done' })
        await expectEqual()
      })

      test('because it fails in every run delays no other entry, and joins its groups once it is there', async () => {
        // More of them in front of the others than failures in a row make an outage.
        const failing = ['u0', 'u1', 'u10', 'u11', 'u2', 'u3', 'u4'].map((id) => failuresOf(id, Infinity))
        proxy.intercept = (request) => failing.map((fail) => fail(request)).find((answer) => answer)
        company.groups.set('g1', { name: 'One', members: ['u1', 'u8'] })
        const { sync, startWorker, exitCode } = harness()
        await startWorker()
        for (let runs = 0; runs < 3; runs += 1) {
          const run = await sync()
          // With them fail the member changes of the groups that would only get such users: later also g1.
          const outcomes = { failed: runs === 0 ? 8 : 9 }
          const notices = runs === 0 ? { 'read-back': 2 } : EMPTY_OBJECT
          expect(run).toMatchObject({ state: 'done', counts: { outcomes, notices } })
          expect(await exitCode(run)).toBe(4)
          expect((await seen()).users.size).toBe(5)
          expect((await seen()).groups.get('g1')?.members).toEqual(['u8'])
        }
        proxy.intercept = () => undefined
        expect(await sync()).toMatchObject({
          counts: { outcomes: { applied: 9 }, notices: { 'read-back': 1 } },
        })
        await expectEqual()
      })

      test.each([
        ['a web page', LOGIN, 'the answer 200 is a web page'],
        ['a redirect', { status: 302, headers: { location: '/login' } }, 'answered 302 Found, a redirect'],
      ])('because a proxy answers its change with %s fails alone', async (_, answer, said) => {
        const { sync, startWorker, messages, exitCode } = harness()
        await startWorker()
        await sync()
        for (const [id, user] of company.users) company.users.set(id, { ...user, name: `New ${user.name}` })
        proxy.intercept = ({ method, url }) =>
          method === 'PATCH' && url.endsWith('/users/u9') ? answer : undefined
        const run = await sync()
        expect(run).toMatchObject({ state: 'done', counts: { outcomes: { applied: 11, failed: 1 } } })
        expect(await exitCode(run)).toBe(4)
        expect(messages()).not.toContain('the directory does not answer; changes wait')
        const changes = await changesOf(opened.store.db, run, 100)
        expect(changes.find(({ state }) => state === 'failed')).toMatchObject({
          change: { id: 'u9' },
          detail: expect.stringContaining(said),
        })
        proxy.intercept = () => undefined
        await sync()
        await expectEqual()
      })

      test('at first is created at the end of the run, and what waits for it comes after it', async () => {
        const user = failuresOf('u1', 4)
        const group = failuresOf('g2', 4)
        proxy.intercept = (request) => user(request) ?? group(request)
        const { sync, startWorker } = harness()
        await startWorker()
        expect(await sync()).toMatchObject({ state: 'done', counts: { outcomes: { applied: 16 } } })
        const retried = writes().slice(-4)
        expect(retried.slice(0, 2)).toEqual(['POST users', 'POST groups'])
        expect(retried.slice(2).toSorted()).toEqual(['PATCH groups/g1', 'PATCH groups/g2'])
        await expectEqual()
      })

      test('because the API refuses every write for a while does not fail for it', async () => {
        for (let index = 12; index < 60; index++) hire(`u${index}`)
        proxy.intercept = ({ method }) => (method === 'GET' ? undefined : { status: 500 })
        const run = await runThroughOutage()
        expect(run).toMatchObject({ state: 'done', counts: { outcomes: { applied: 64 } } })
        await expectEqual()
      })

      test.each(['writes', 'all requests'])(
        'because a proxy answers %s with a web page for a while is written once it does not',
        async (which) => {
          for (let index = 12; index < 30; index++) hire(`u${index}`)
          let isWriting = false
          proxy.intercept = ({ method }) => {
            isWriting ||= method !== 'GET'
            const isHit = which === 'writes' ? method !== 'GET' : isWriting
            return isHit ? { status: 200, page: '<title>Log in</title>' } : undefined
          }
          const run = await runThroughOutage()
          expect(run).toMatchObject({ state: 'done', counts: { outcomes: { applied: 34 } } })
          await expectEqual()
        },
      )

      test('because a proxy answers with web pages for good stops the run, which says what came', async () => {
        for (let index = 12; index < 30; index++) hire(`u${index}`)
        proxy.intercept = ({ method }) =>
          method === 'GET' ? undefined : { status: 404, page: '<title>Gone</title>' }
        const { executor, startWorker, requestRun, waitForEnd, messages } = harness({ giveUpMs: OUTAGE_MS })
        await startWorker()
        const asked = await requestRun()
        const working = executor.work(name, { scheduled: false })
        await eventually(() => expect(messages()).toContain('the directory does not answer; changes wait'))
        outlastOutage()
        await working
        const run = await waitForEnd(asked)
        expect(run.state).toBe('failed')
        expect(run.error).toMatch(
          /^No change could be applied for 1 minutes; the last answer was: the answer 404 is a web page, .+\. The next run goes on with what is left\.?$/,
        )
      })
    })

    describe('what stops a run', () => {
      test('401 in mid-run: token-refused, and nothing more is written', async () => {
        const { sync, startWorker, codes, exitCode } = harness({
          afterRead: async () => {
            token = 'no-longer-valid'
          },
        })
        await startWorker()
        const run = await sync()
        expect(run).toMatchObject({ state: 'failed', stop_code: 'token-refused' })
        expect(run.error).toMatch(/token/i)
        expect(codes()).toEqual(['token-refused'])
        expect(await exitCode(run)).toBe(1)
        expect((await seen()).users.size).toBe(0)
      })

      test('the directory is deleted in mid-run: directory-unknown', async () => {
        for (let index = 12; index < 60; index++) hire(`u${index}`)
        const { sync, startWorker, codes } = harness()
        let created = 0
        proxy.intercept = async ({ method }) => {
          if (method === 'POST') created += 1
          if (created !== 20) return undefined
          created += 1
          await dropDirectory()
          return undefined
        }
        await startWorker()
        const run = await sync()
        expect(run).toMatchObject({ state: 'failed', stop_code: 'directory-unknown' })
        expect(codes()).toEqual(['directory-unknown'])
        expect(run.counts?.outcomes.quarantined).toBeUndefined()
      })
    })

    // Nobody takes a sync away from the one process that has opened an embedded store.
    describe.skipIf(kind === 'embedded')('fencing', () => {
      test('what an overtaken run left in the queue is never sent', async () => {
        const { executor, requestRun, startWorker, getRun, waitForEnd } = harness()
        const overtaken = await requestRun()
        const working = executor.work(name, { scheduled: false })
        const queue = opened.backend.createQueue(`changes-${name}`)
        await eventually(async () => expect(await queue.getWaitingCount()).toBeGreaterThan(0))
        await takeAway()
        await startWorker()
        await eventually(async () => expect(await queue.getJobCountByTypes()).toBe(0))
        await working
        expect(writes()).toEqual([])
        expect(await getRun(overtaken)).toMatchObject({ state: 'applying' })

        await giveFree()
        await executor.work(name, { scheduled: false })
        expect(await waitForEnd(overtaken)).toMatchObject({ state: 'failed' })
        const next = await getRun(overtaken + 1)
        expect(next).toMatchObject({ state: 'done', counts: { outcomes: { applied: 16 } } })
        await expectEqual()
      })

      test('a change that a worker holds when its run is overtaken is not sent again', async () => {
        const held: ProxiedRequest[] = []
        const gate = Promise.withResolvers<void>()
        proxy.intercept = async (request) => {
          if (request.method === 'GET') return undefined
          held.push(request)
          await gate.promise
          return { status: 503 }
        }
        let isDead = false
        const { executor, requestRun, startWorker, getRun, waitForEnd } = harness({ isDead: () => isDead })
        await startWorker()
        const overtaken = await requestRun()
        const working = executor.work(name, { scheduled: false })
        await eventually(() => expect(held).toHaveLength(4))
        expect((await getRun(overtaken)).state).toBe('applying')
        await takeAway()
        await working
        // The run's owner may learn of it before the worker, which looks at the store from time to time.
        await sleep(2 * QUICK.fence.look)
        gate.resolve()
        const queue = opened.backend.createQueue(`changes-${name}`)
        await eventually(async () => expect(await queue.getJobCountByTypes()).toBe(0))
        expect(held).toHaveLength(4)
        expect(writes()).toEqual([])

        proxy.intercept = () => undefined
        // For one that may still send something the next run would wait.
        isDead = true
        await giveFree()
        await executor.work(name, { scheduled: false })
        expect(await waitForEnd(overtaken + 1)).toMatchObject({ state: 'done' })
        await expectEqual()
      })
    })

    describe('schedules', () => {
      test('cron and interval wake runs, and no run overlaps another one of its sync', async () => {
        const reading = { now: 0, most: 0 }
        const wakes = { count: 0, areOver: false }
        const { executor } = harness({
          onRead: async (_signal, how) => {
            expect(how).toMatchObject({ isAsked: false })
            reading.now += 1
            reading.most = Math.max(reading.most, reading.now)
            const { count } = wakes
            // So that the sync is woken while it runs.
            await eventually(() => expect(wakes.areOver || wakes.count > count).toBe(true))
            reading.now -= 1
          },
        })
        company.users.clear()
        company.groups.clear()
        for (const repeat of [{ every: 1000, offset: 200 }, { pattern: '* * * * * *' }]) {
          wakes.areOver = false
          const queue = openRunsQueue(opened.backend)
          const before = (await listRuns(opened.store.db, { sync: name, limit: 100 })).length
          const worker = startRunsWorker(opened.backend, 2, async ({ sync, scheduled }) => {
            if (sync !== name) return
            wakes.count += 1
            await executor.work(name, { scheduled })
          })
          await setSchedules(queue, new Map([[name, repeat]]))
          await eventually(async () => {
            const runs = await listRuns(opened.store.db, { sync: name, limit: 100 })
            expect(runs.length - before).toBeGreaterThanOrEqual(2)
          })
          await setSchedules(queue, new Map())
          wakes.areOver = true
          await worker.close()
          const runs = await listRuns(opened.store.db, { sync: name, limit: 100 })
          expect(runs.every(({ trigger, state }) => trigger === 'schedule' && state === 'done')).toBe(true)
        }
        expect(reading.most).toBe(1)
      })

      test('a run asked for while the next scheduled one is an hour away begins in under a second', async () => {
        let readAt = 0
        const { executor, requestRun, waitForEnd, startWorker } = harness({
          onRead: async (_signal, how) => {
            expect(how).toMatchObject({ isAsked: true })
            readAt = performance.now()
          },
        })
        await startWorker()
        const queue = openRunsQueue(opened.backend)
        const worker = startRunsWorker(opened.backend, 2, ({ scheduled }) =>
          executor.work(name, { scheduled }),
        )
        const hour = 3_600_000
        await setSchedules(
          queue,
          new Map([[name, { every: hour, offset: (Date.now() + hour - 2000) % hour }]]),
        )
        await worker.waitUntilReady()
        // Time to begin to wait; a machine that is too busy for it shows less, and fails no sooner.
        await sleep(300)
        const scaled = watchLoad()
        const askedAt = performance.now()
        const run = await requestRun()
        await wake(queue, name)
        expect(await waitForEnd(run)).toMatchObject({ state: 'done' })
        console.log(`${opened.backend.kind}: began after ${(readAt - askedAt).toFixed(0)} ms`)
        expect(readAt - askedAt).toBeLessThan(scaled(1000))
        await setSchedules(queue, new Map())
        await worker.close()
      })

      test('a run whose time passed while the machine slept is made when it wakes up', async () => {
        const queue = openRunsQueue(opened.backend)
        const soon = new Date(Date.now() + 3_600_000)
        const daily = new Map([
          [name, { pattern: `${soon.getUTCMinutes()} ${soon.getUTCHours()} * * *`, tz: 'UTC' }],
        ])
        await setSchedules(queue, daily)
        await restoreSchedules(queue, daily)
        const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * 3_600_000)
        await restoreSchedules(queue, daily).finally(() => clock.mockRestore())
        // Only now, because a worker that is quicker takes the job of the time that has passed.
        const woken: WakeJob[] = []
        const worker = startRunsWorker(opened.backend, 1, async (job) => {
          if (job.sync === name) woken.push(job)
        })
        await eventually(() => expect(woken).toEqual([{ sync: name, scheduled: true }]))
        await setSchedules(queue, new Map())
        await worker.close()
      })

      test('is set although a worker adds the next job at the same moment', async () => {
        const queue = openRunsQueue(opened.backend)
        const error = Object.assign(new Error('job ID already exists'), {
          code: ErrorCode.SchedulerJobIdCollision,
        })
        vi.spyOn(queue, 'upsertJobScheduler').mockRejectedValueOnce(error)
        const hourly = new Map([[name, { every: 3_600_000, offset: 0 }]])
        await expect(setSchedules(queue, hourly)).resolves.toBeUndefined()
        expect((await queue.getJobSchedulers()).map(({ key }) => key)).toEqual([name])
        await setSchedules(queue, new Map())
      })

      test('a sync that is gone, or has no schedule any more, loses its own', async () => {
        const queue = openRunsQueue(opened.backend)
        const hourly = { every: 3_600_000, offset: 0 }
        await setSchedules(queue, new Map(['stays', 'goes'].map((sync) => [sync, hourly])))
        await setSchedules(queue, new Map([['stays', hourly]]))
        expect((await queue.getJobSchedulers()).map(({ key }) => key)).toEqual(['stays'])
        await setSchedules(queue, new Map())
        expect(await queue.getJobSchedulers()).toEqual([])
      })

      test.each([
        { pattern: '@daily' },
        { pattern: '0 0 L * *' },
        { pattern: '17 30 7 15W * *', tz: 'Europe/Zagreb' },
        { pattern: '0 12 * * MON#2', tz: 'America/New_York' },
      ])('the next time of $pattern $tz is what croner says', async ({ pattern, tz }) => {
        const queue = openRunsQueue(opened.backend)
        await setSchedules(queue, new Map([[name, tz === undefined ? { pattern } : { pattern, tz }]]))
        const options = { mode: '5-or-6-parts', paused: true, ...(tz && { timezone: tz }) } as const
        const next = new Cron(pattern, options).nextRun()
        expect((await queue.getJobScheduler(name))?.next).toBe(next?.getTime())
        await setSchedules(queue, new Map())
      })

      test('the worker goes on with an expression that only croner knows', async () => {
        let woken = 0
        const queue = openRunsQueue(opened.backend)
        const worker = startRunsWorker(opened.backend, 1, async ({ sync }) => {
          if (sync === name) woken += 1
        })
        await setSchedules(queue, new Map([[name, { pattern: '* * * * * +SUN-SAT' }]]))
        await eventually(() => expect(woken).toBeGreaterThanOrEqual(3))
        await setSchedules(queue, new Map())
        await worker.close()
      })
    })

    test('the queue holds no personal data while changes fail', async () => {
      company.users.set('u1', { name: 'Planted Person', email: 'planted.person@example.org' })
      company.groups.set('g1', { name: 'Planted Group', members: ['u1'] })
      let answer: object | undefined = {
        title: 'Failed',
        detail: 'Planted Person <planted.person@example.org> of Planted Group could not be saved',
      }
      proxy.intercept = ({ method }) =>
        method === 'GET' || answer === undefined ? undefined : { status: 500, answer }
      const { executor, requestRun, startWorker, getRun, waitForEnd } = harness()
      await startWorker()
      const run = await requestRun()
      const working = executor.work(name, { scheduled: false })
      const texts: string[] = []
      await eventually(async () => {
        texts.push(...(await queueTexts(opened)))
        const changes = await changesOf(opened.store.db, await getRun(run), 100)
        expect(changes.filter(({ detail }) => detail !== null).length).toBeGreaterThan(4)
      })
      texts.push(...(await queueTexts(opened)))
      answer = undefined
      await working
      expect(await waitForEnd(run)).toMatchObject({ state: 'done' })
      texts.push(...(await queueTexts(opened)))
      const all = texts.join('\n')
      expect(all).toContain('ticket')
      expect(all).toContain(`changes-${name}`)
      expect(all).not.toMatch(/planted|example\.org|could not be saved/i)
    })
  })
}

/** Answers the first so many requests that would create this entry with 500. */
const LOGIN = { status: 200, page: '<title>Log in</title>' }

function failuresOf(id: string, times: number): (request: ProxiedRequest) => { status: number } | undefined {
  let left = times
  return ({ method, body }) => {
    const isIt = method === 'POST' && [...new URLSearchParams(body).values()].includes(id)
    if (!isIt || left === 0) return undefined
    left -= 1
    return { status: 500 }
  }
}
