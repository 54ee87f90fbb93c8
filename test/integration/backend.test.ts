import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type Job, Worker } from 'bullmq'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/base/log/log.ts'
import { openQueueBackend, type QueueBackend } from '../../src/queue/backend.ts'
import { openRunsQueue, restoreSchedules, setSchedules, startRunsWorker } from '../../src/queue/runs.ts'
import { TIMES } from '../../src/queue/times.ts'
import { isAway, takesNoWrites } from '../../src/base/database/outage.ts'
import { openStore } from '../../src/store/open.ts'
import { allBackends, type OpenBackend } from '../support/backends.ts'
import { startPostgres } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { freePort } from '../support/server-process.ts'
import { watchLoad } from '../support/machine-load.ts'
import { eventually } from '../support/eventually.ts'

const HOUR = 3_600_000

describe.each(allBackends())('queue on $name', ({ open }) => {
  let opened: OpenBackend

  beforeAll(async () => {
    opened = await open()
  })

  afterAll(async () => {
    await opened.close()
  })

  test('a job added while the next scheduled one is an hour away starts in under a second', async () => {
    const queue = opened.backend.createQueue<{ n: number }>('wake')
    const started: number[] = []
    const worker = opened.backend.createWorker<{ n: number }>('wake', async (job) => {
      started.push(job.data.n)
    })
    await queue.upsertJobScheduler('hourly', { every: HOUR, offset: (Date.now() + HOUR - 1000) % HOUR })
    await worker.waitUntilReady()
    // Time to begin to wait; a machine that is too busy for it shows less, and fails no sooner.
    await new Promise((resolve) => setTimeout(resolve, 300))
    const scaled = watchLoad()
    const waits: number[] = []
    for (const n of [1, 2, 3]) {
      const added = performance.now()
      await queue.add('now', { n })
      await eventually(() => expect(started).toContain(n))
      waits.push(performance.now() - added)
    }
    // Without being woken, each would wait for several seconds.
    expect(Math.min(...waits)).toBeLessThan(scaled(1000))
  })

  test('schedules by cron and by interval start jobs, and repeat', async () => {
    const queue = opened.backend.createQueue('schedules')
    const names: string[] = []
    opened.backend.createWorker('schedules', async (job) => {
      names.push(job.name)
    })
    await queue.upsertJobScheduler('cron', { pattern: '* * * * * *', tz: 'Europe/Berlin' }, { name: 'cron' })
    await queue.upsertJobScheduler('interval', { every: 1000, offset: 300 }, { name: 'interval' })
    const seen = (name: string) => names.filter((each) => each === name).length
    await eventually(() => expect(Math.min(seen('cron'), seen('interval'))).toBeGreaterThanOrEqual(2))
    expect((await queue.getJobSchedulers()).map(({ key }) => key).toSorted()).toEqual(['cron', 'interval'])
    await queue.removeJobScheduler('cron')
    expect(await queue.getJobSchedulersCount()).toBe(1)
  })

  test('a rate-limited job is given back, and no job starts until the time is over', async () => {
    const queue = opened.backend.createQueue<{ n: number }>('limited')
    const starts: { n: number; at: number }[] = []
    const worker = opened.backend.createWorker<{ n: number }>('limited', async (job) => {
      starts.push({ n: job.data.n, at: performance.now() })
      if (starts.length > 1) return
      await worker.rateLimit(1500)
      throw Worker.RateLimitError()
    })
    await queue.add('first', { n: 1 })
    await eventually(() => expect(starts).toHaveLength(1))
    await queue.add('second', { n: 2 })
    await eventually(() => expect(starts).toHaveLength(3))
    expect(starts.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([1, 1, 2])
    const [first, second] = starts
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1400)
  })

  test('finished and failed jobs leave nothing behind', async () => {
    const queue = opened.backend.createQueue('gone')
    const worker = opened.backend.createWorker('gone', async (job: Job) => {
      if (job.name === 'bad') throw new Error('no')
    })
    const failed = once(worker, 'failed')
    await queue.add('bad', {})
    await failed
    const completed = once(worker, 'completed')
    await queue.add('good', {})
    await completed
    await eventually(async () => expect(await queue.getJobCountByTypes()).toBe(0))
  })

  test('a job that fails is tried again after its delay', async () => {
    const queue = opened.backend.createQueue('again')
    let tries = 0
    opened.backend.createWorker('again', async () => {
      tries += 1
      if (tries < 3) throw new Error('not yet')
    })
    await queue.add('job', {}, { attempts: 3, backoff: { type: 'exponential', delay: 50 } })
    await eventually(() => expect(tries).toBe(3))
  })

  test('200 jobs are worked on once each by two workers, and many queues live side by side', async () => {
    const queues = Array.from({ length: 12 }, (_, n) =>
      opened.backend.createQueue<{ n: number }>(`many-${n}`),
    )
    const done: string[] = []
    const process = async (job: Job<{ n: number }>) => {
      done.push(`${job.queueName}/${job.data.n}`)
    }
    for (const queue of queues) {
      opened.backend.createWorker(queue.name, process, { concurrency: 5 })
      opened.backend.createWorker(queue.name, process, { concurrency: 5 })
      const jobs = Array.from({ length: 20 }, (_, n) => ({ name: 'job', data: { n } }))
      await queue.addBulk(jobs)
    }
    await eventually(() => expect(done).toHaveLength(240))
    expect(new Set(done).size).toBe(240)
  })
})

describe('a server that restarts', () => {
  test('Redis: waiting workers go on, and what was queued is still there', async () => {
    const server = await startRedis({ appendOnly: true })
    onTestFinished(() => server.close())
    await using backend = await openQueueBackend({ kind: 'redis', url: server.url })
    expect(await doneOverRestart(backend, server)).toEqual(['after', 'before', 'kept'])
  })

  test('PostgreSQL: waiting workers go on, and what was queued is still there', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.close())
    await using store = await openStore({ kind: 'postgres', url: await server.createDatabase() })
    await using backend = await openQueueBackend({ kind: 'store', store })
    expect(await doneOverRestart(backend, server)).toEqual(['after', 'before', 'kept'])
  })
})

type Restartable = { stop(): Promise<void>; start(): Promise<void> }

/** The jobs that were done: one before the restart, one that waited over it, one after it. */
async function doneOverRestart(backend: QueueBackend, server: Restartable): Promise<string[]> {
  const queue = backend.createQueue('restart')
  const done: string[] = []
  backend.createWorker('restart', async (job) => {
    done.push(job.name)
  })
  await queue.add('before', {})
  await eventually(() => expect(done).toEqual(['before']))
  await queue.add('kept', {}, { delay: 1000 })
  await server.stop()
  await server.start()
  await eventually(() => queue.add('after', {}))
  await eventually(() => expect(done).toHaveLength(3))
  return done.toSorted()
}

test('a Redis that takes no writes is asked now and then, is told of once, and is taken as away', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  const lines: string[] = []
  const log = createLog('info', { destination: { write: (line: string) => lines.push(line) } })
  const times = { ...TIMES, jobs: { ...TIMES.jobs, askAgain: 20 } }
  await using backend = await openQueueBackend({ kind: 'redis', url: server.url, log, times: times.jobs })
  const queue = backend.createQueue('refused')
  const [started, gate, done] = [1, 2, 3].map(() => Promise.withResolvers<string>())
  let refusals = 0
  const worker = backend.createWorker('refused', async ({ name }) => {
    started!.resolve(name)
    if (name === 'first') await gate!.promise
    if (name === 'last') done!.resolve(name)
  })
  worker.on('error', () => (refusals += 1))
  await queue.addBulk(['first', 'second'].map((name) => ({ name, data: {} })))
  await started!.promise
  await server.refuseWrites(true)
  gate!.resolve('')
  await expect(queue.add('lost', {})).rejects.toSatisfy(isAway)
  await expect(backend.ping()).rejects.toSatisfy(takesNoWrites)
  const begun = performance.now()
  await eventually(() => expect(refusals).toBeGreaterThan(3))
  expect(refusals * 20).toBeLessThan(performance.now() - begun + 100)
  await server.refuseWrites(false)
  await queue.add('last', {})
  await done!.promise
  await eventually(() =>
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'Redis does not answer',
      'Redis answers again',
    ]),
  )
})

test('schedules of a Redis that was emptied come back with the next check', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  await using backend = await openQueueBackend({ kind: 'redis', url: server.url })
  const queue = openRunsQueue(backend)
  const schedules = new Map([['corp', { every: 1000, offset: 0 }]])
  await setSchedules(queue, schedules)
  await server.flush()
  const woken = Promise.withResolvers<unknown>()
  startRunsWorker(backend, 1, async (job) => woken.resolve(job))
  await restoreSchedules(queue, schedules)
  expect(await woken.promise).toEqual({ sync: 'corp', scheduled: true })
})

describe('a Redis that cannot be used', () => {
  test('nothing listens there', async () => {
    const opening = openQueueBackend({ kind: 'redis', url: `redis://127.0.0.1:${await freePort()}/0` })
    await expect(opening).rejects.toMatchObject({ code: 'queue-unavailable' })
    await expect(opening).rejects.toThrow(/Redis at 127\.0\.0\.1:\d+\): nothing listens there/)
  })

  test('the password is missing or wrong, and is not told; the right one opens', async () => {
    const server = await startRedis({ args: ['--requirepass', 'right'] })
    onTestFinished(() => server.close())
    const place = { kind: 'redis', url: server.url } as const
    await expect(openQueueBackend(place)).rejects.toThrow(/the server refused the login/)
    const opening = openQueueBackend({ ...place, password: async () => 'wrong-secret' })
    await expect(opening).rejects.toThrow(/the server refused the login/)
    await expect(opening).rejects.not.toThrow(/wrong-secret/)
    await using backend = await openQueueBackend({ ...place, password: async () => 'right' })
    expect(await backend.redis?.ping()).toBe('PONG')
  })

  test('one that may drop jobs is named in the log', async () => {
    const server = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    onTestFinished(() => server.close())
    const lines: string[] = []
    const log = createLog('warn', { destination: { write: (line: string) => lines.push(line) } })
    await using _backend = await openQueueBackend({ kind: 'redis', url: server.url, log })
    expect(lines.join('')).toMatch(/allkeys-lru.*set maxmemory-policy to noeviction/)
  })
})

test('a Redis that hangs is waited for only so long when it is opened', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const times = { ...TIMES.jobs, open: 50 }
  const opening = openQueueBackend({ kind: 'redis', url: `redis://127.0.0.1:${port}`, times })
  await expect(opening).rejects.toThrow(`(Redis at 127.0.0.1:${port}): no answer within 0.05 s.`)
})

describe('closing does not wait for a server that is away', () => {
  test('Redis', async () => {
    const server = await startRedis()
    onTestFinished(() => server.close())
    const backend = await openQueueBackend({ kind: 'redis', url: server.url })
    await closeWithout(backend, server)
  })

  test('PostgreSQL', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.close())
    const store = await openStore({ kind: 'postgres', url: await server.createDatabase() })
    const backend = await openQueueBackend({ kind: 'store', store })
    await closeWithout(backend, server)
    await store[Symbol.asyncDispose]()
  })
})

/** It would wait for the server for ever. */
async function closeWithout(backend: QueueBackend, server: Restartable): Promise<void> {
  backend.createQueue('left')
  await backend.createWorker('left', async () => undefined).waitUntilReady()
  await server.stop()
  await backend[Symbol.asyncDispose]()
}
