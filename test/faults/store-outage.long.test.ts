import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { people } from '../support/company.ts'
import { type CompanySite, expectDirectory, openCompanySite, RUN_DONE } from '../support/company-site.ts'
import { eventually } from '../support/eventually.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import type { Program } from '../support/program.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { watchLoad } from '../support/machine-load.ts'

/** Enough for a run of some seconds. */
const BEFORE = people(10)
const AFTER = people(10 + 600)
const CHANGES = AFTER.users.size - BEFORE.users.size

let postgres: PostgresServer
let redis: RedisServer
let stack: AsyncDisposableStack
let companySite: CompanySite

beforeAll(async () => {
  postgres = await startPostgres()
  redis = await startRedis({ appendOnly: true, stopSignal: 'KILL' })
})
afterAll(async () => {
  await postgres.close()
  await redis.close()
})

beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

type Queue = 'redis' | 'postgres' | 'embedded'

async function startDaemon(queue: Queue): Promise<Program> {
  companySite = stack.use(await openCompanySite(await placesOf(queue), BEFORE))
  const { site } = companySite
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
  await companySite.setSource(AFTER)
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  return daemon
}

/** A daemon in the middle of a run that creates people. */
async function startRun(queue: Queue): Promise<Program> {
  const daemon = await startDaemon(queue)
  await companySite.requestRun()
  await companySite.waitForWrites(CHANGES / 4)
  return daemon
}

async function placesOf(queue: Queue): Promise<{ store: string; queue: string }> {
  if (queue === 'embedded') return { store: 'embedded', queue: 'store' }
  return { store: await postgres.createDatabase(), queue: queue === 'redis' ? redis.url : 'store' }
}

/** The directory equals the source, every change was done once, and there is nothing more to do. */
async function expectDone(): Promise<void> {
  await expectDirectory(companySite.service, AFTER)
  expect(await companySite.writes()).toHaveLength(CHANGES)
  const again = await companySite.site.json('sync', 'corp')
  expect(again).toMatchObject({ code: 0, lines: [{ state: 'done', counts: { planned: EMPTY_OBJECT } }] })
}

/** The run is the one that was asked for, not another that went on after it was given up. */
async function expectSameRun(daemon: Program): Promise<void> {
  const [, run] = await daemon.waitForOutput(/"run":(\d+),"end":"done"/)
  expect(run).toBe('2')
}

/** What the daemon logged since it started, in its order, but what came of each change. */
function messages(daemon: Program): readonly string[] {
  const all = [...daemon.output().matchAll(/"msg":"([^"]*)"/g)].map(([, message]) => message!)
  return all
    .slice(all.indexOf('daemon started') + 1)
    .filter((message) => !message.includes('read back') && message !== 'a change has its outcome')
}

/**
 * Each outage is told once when it begins and once when it ends; a server that is starting may be away again. A queue
 * in the store may meet the outage in the middle of a request.
 */
function outageOf(server: string): RegExp {
  return new RegExp(
    `^(${server} does not answer; (the queue reports an error; )*${server} answers again; )+run ended$`,
  )
}

describe('in the middle of a run', () => {
  test('Redis is killed and starts again: the run goes on', async () => {
    const daemon = await startRun('redis')
    await redis.stop()
    await daemon.waitForOutput(/"Redis does not answer"/)
    await redis.start()
    await expectSameRun(daemon)
    expect(messages(daemon).join('; ')).toMatch(outageOf('Redis'))
    await expectDone()
  })

  test('Redis takes no writes: what is asked for meanwhile is answered, and is done', async () => {
    const daemon = await startDaemon('redis')
    await redis.refuseWrites(true)
    const { site } = companySite
    const asked = site.run('sync', 'corp')
    await eventually(async () => expect((await site.run('runs')).stdout).toMatch(/2 .*applying/))
    expect((await site.run('check', 'corp')).stdout).toMatch(
      /FAIL +stores +the queue takes no writes: .*READONLY/,
    )
    await redis.refuseWrites(false)
    expect(await asked).toMatchObject({ code: 0, stdout: expect.stringContaining(`${CHANGES} applied`) })
    expect(daemon.output()).not.toContain('run interrupted')
    // A replica first wakes who waits, and then refuses writes: with one warning, or with two.
    const warned = daemon.output().match(/.*"level":"(warn|error)".*/g) ?? []
    expect(warned.slice(0, 2)).toEqual(warned)
    expect(warned[0]).toContain('Redis does not answer')
    expect(warned.at(-1)).toContain('Redis does not answer')
    await redis.stop()
    // Answered before Redis is back.
    await companySite.requestRun()
    await redis.start()
    await expectDone()
  })

  test('Redis is emptied: the jobs that vanished come back', async () => {
    const daemon = await startRun('redis')
    await redis.flush()
    await expectSameRun(daemon)
    expect(messages(daemon)).toEqual(['run ended'])
    await expectDone()
  })

  test('PostgreSQL starts again: the daemon stays and the run goes on', async () => {
    const daemon = await startRun('postgres')
    await postgres.stop()
    await daemon.waitForOutput(/"the store does not answer"/)
    await postgres.start()
    await expectSameRun(daemon)
    expect(messages(daemon).join('; ')).toMatch(outageOf('the store'))
    await expectDone()
  })

  test.each(['a daemon', 'the command itself'])(
    'PostgreSQL starts again: a command waits while %s goes on, and says so',
    async (worker) => {
      companySite = stack.use(await openCompanySite(await placesOf('postgres'), BEFORE))
      const { site } = companySite
      expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
      await companySite.setSource(AFTER)
      if (worker === 'a daemon') await stack.use(site.start('start')).waitForOutput(/daemon started/)
      const command = site.run('sync', 'corp')
      await companySite.waitForWrites(CHANGES / 4)
      await postgres.stop()
      await sleep(3000)
      await postgres.start()
      const ended = await command
      expect(ended.stderr).toMatch(
        /^The store or the queue does not answer \(.+\)\. Run 2 waits for it, and so does this command\.$/m,
      )
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`${CHANGES} applied`) })
      await expectDone()
    },
  )

  test('every connection to PostgreSQL is cut: the run goes on', async () => {
    const daemon = await startRun('redis')
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dirsyncd'",
    )
    await client.end()
    await expectSameRun(daemon)
    expect(messages(daemon).join('; ')).toMatch(outageOf('the store'))
    await expectDone()
  })

  test.each<Queue>(['embedded', 'redis'])(
    'SIGTERM ends the daemon with 0 in under 5 s, and the next start goes on; the queue is %s',
    async (queue) => {
      const daemon = await startRun(queue)
      const scaled = watchLoad()
      const asked = Date.now()
      daemon.kill('SIGTERM')
      expect(await daemon.ended).toMatchObject({ code: 0 })
      expect(Date.now() - asked).toBeLessThan(scaled(5000))
      expect(messages(daemon).toSorted()).toEqual(['daemon stops', 'run interrupted'])
      const next = stack.use(companySite.site.start('start'))
      await next.waitForOutput(RUN_DONE)
      await expectDone()
    },
  )
})
