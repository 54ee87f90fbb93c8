import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/service/faults/faults.ts'
import { openStore } from '../../src/store/open.ts'
import { NONE } from '../support/none.ts'
import { CHANGES, companyAfter, companyBefore, GROUPS } from '../support/company.ts'
import {
  type CrashSite,
  expectDirectory,
  type Kill,
  killAtRandom,
  openCrashSite,
  RUN_DONE,
  type Victim,
} from '../support/crash-site.ts'
import { createDatabase } from '../support/databases.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { patience } from '../support/patience.ts'
import { inLong } from '../support/long.ts'

/** Says where the kills fall; set it to the one that a failure printed to see that again. */
const SEED = Number(process.env['DIRSYNCD_TEST_SEED'] ?? Date.now() % 100_000)
const TOTAL = Object.values(CHANGES).reduce((sum, count) => sum + count, 0)

let redis: Promise<RedisServer> | undefined
let stack: AsyncDisposableStack

beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())
afterAll(async () => {
  await (await redis)?.close()
})

const places = {
  embedded: async () => ({ store: 'embedded', queue: 'store' }),
  postgres: async () => ({ store: await createDatabase(), queue: 'store' }),
  redis: async () => {
    redis ??= startRedis({ appendOnly: true })
    return { store: await createDatabase(), queue: (await redis).url }
  },
}

type Backend = 'embedded' | 'postgres' | 'redis'

describe('SIGKILL at random points of a run', () => {
  test.each(inLong<readonly Backend[]>(['embedded', 'redis'], ['embedded', 'postgres', 'redis']))(
    '%s: the work goes on and nothing is done twice',
    { timeout: 300_000 },
    async (backend) => {
      const place = await places[backend]()
      const crashSite = stack.use(await openCrashSite(place, companyBefore()))
      const { site, service } = crashSite
      expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
      await crashSite.become(companyAfter())

      const names = backend === 'embedded' ? (['daemon'] as const) : (['daemon', 'worker'] as const)
      const victims = names.map((name) => startVictim(crashSite, name))
      const [daemon] = victims as [Victim]
      await daemon.program.printed(/daemon started/)
      await crashSite.ask()
      const random = seededRandom(SEED)
      const kills = await killAtRandom(crashSite, victims, {
        times: inLong(1, 3),
        upTo: TOTAL * 0.85,
        random,
      })
      const idleMs = await workGoesOn(crashSite, kills.at(-1)!)
      await daemon.program.printed(RUN_DONE)
      const restMs = Date.now() - kills.at(-1)!.restartedAt

      expect(idleMs).toBeLessThan(patience(30_000))
      await expectDirectory(service, companyAfter())
      const again = await site.json('sync', 'corp')
      expect(again).toMatchObject({ code: 0, lines: [{ state: 'done', counts: { planned: NONE } }] })
      await Promise.all(victims.map(({ program }) => program[Symbol.asyncDispose]()))
      const unsure = await unsureChanges(place.store, site.dataDir)
      const fallen = kills.map(({ name, after }) => `${name} after ${after}`).join(', ')
      console.log(
        `${backend}, seed ${SEED}: ${fallen}; the work went on after ${Math.round(idleMs)} ms, the run was done after ` +
          `${restMs} ms; ${unsure} attempts without an outcome`,
      )
      expect(await repeated(crashSite)).toEqual([])
    },
  )
})

function startVictim({ site }: CrashSite, name: 'daemon' | 'worker'): Victim {
  const start = () => stack.use(site.start(name === 'daemon' ? 'start' : 'worker'))
  return { name, start, program: start() }
}

/** Milliseconds from the restart until the service has done one more write, or the run has ended. */
async function workGoesOn(crashSite: CrashSite, { restartedAt }: Kill): Promise<number> {
  for (;;) {
    const next = (await crashSite.writes()).find(({ at }) => at > restartedAt)
    if (next) return next.at - restartedAt
    if (Date.now() - restartedAt > 60_000) return Number.POSITIVE_INFINITY
    await sleep(100)
  }
}

/**
 * What the service did more often than there were changes that needed it. Nothing is excused: also where a crash fell between
 * the answer and its journal line, the next attempt looks before it sends.
 */
async function repeated(crashSite: CrashSite): Promise<readonly string[]> {
  const counts = new Map<string, number>()
  for (const { method, url } of await crashSite.writes()) {
    const path = /\/(users|groups)(\/.*)?$/.exec(url)![0]
    const key = `${method} ${path}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].filter(([key, count]) => count > needed(key)).map(([key, count]) => `${key}: ${count}`)
}

function needed(key: string): number {
  if (key === 'POST /users') return CHANGES['create-user']
  if (key === 'POST /groups') return CHANGES['create-group']
  const group = /^PATCH \/groups\/g(\d+)$/.exec(key)
  return group && Number(group[1]) < GROUPS ? 2 : 1
}

/** How many attempts have an intent in the journal and no outcome: a crash fell between. */
async function unsureChanges(store: string, dataDir: string): Promise<number> {
  await using opened = await openStore(
    store === 'embedded' ? { kind: 'embedded', dataDir } : { kind: 'postgres', url: store },
  )
  const { rowCount } = await opened.pool.query('SELECT 1 FROM dirsyncd.journal WHERE outcome IS NULL')
  return rowCount ?? 0
}
