import { expect } from 'vitest'
import { seededRandom } from '../../src/service/faults/faults.ts'
import { openStore } from '../../src/store/open.ts'
import { EMPTY_OBJECT } from '../support/empty-object.ts'
import { CHANGES, companyAfter, companyBefore, GROUPS } from '../support/company.ts'
import {
  type CompanySite,
  expectDirectory,
  killAtRandom,
  openCompanySite,
  RUN_DONE,
  type Victim,
} from '../support/company-site.ts'
import { createDatabase } from '../support/databases.ts'
import { startRedis } from '../support/redis.ts'

/** Says where the kills fall; set it to the one that a failure printed to see that again. */
const SEED = Number(process.env['DIRSYNCD_TEST_SEED'] ?? Date.now() % 100_000)
const TOTAL = Object.values(CHANGES).reduce((sum, count) => sum + count, 0)

const places = {
  embedded: async () => ({ store: 'embedded', queue: 'store' }),
  postgres: async () => ({ store: await createDatabase(), queue: 'store' }),
  redis: async (stack: AsyncDisposableStack) => {
    const redis = stack.adopt(await startRedis({ appendOnly: true }), (server) => server.close())
    return { store: await createDatabase(), queue: redis.url }
  },
}

export type Backend = 'embedded' | 'postgres' | 'redis'

/**
 * Kills the processes of a run with SIGKILL at random points: the work goes on, and nothing is done twice.
 *
 * @param names the processes that work on the run
 * @param times how often each process is killed; after the third kill in a row the next run would wait
 *   (store/interruptions.ts)
 */
export async function testKills(
  backend: Backend,
  names: readonly Victim['name'][],
  times: number,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const place = await places[backend](stack)
  const companySite = stack.use(await openCompanySite(place, companyBefore()))
  const { site, service } = companySite
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
  await companySite.setSource(companyAfter())

  const victims = names.map((name) => startVictim(stack, companySite, name))
  const [daemon] = victims as [Victim]
  await daemon.program.waitForOutput(/daemon started/)
  await companySite.requestRun()
  const random = seededRandom(SEED)
  const kills = await killAtRandom(companySite, victims, {
    times,
    upTo: TOTAL * 0.85,
    random,
  })
  await daemon.program.waitForOutput(RUN_DONE)
  const restMs = Date.now() - kills.at(-1)!.restartedAt

  await expectDirectory(service, companyAfter())
  const again = await site.json('sync', 'corp')
  expect(again).toMatchObject({ code: 0, lines: [{ state: 'done', counts: { planned: EMPTY_OBJECT } }] })
  await Promise.all(victims.map(({ program }) => program[Symbol.asyncDispose]()))
  const unsure = await unsureChanges(place.store, site.dataDir)
  const fallen = kills.map(({ name, after }) => `${name} after ${after}`).join(', ')
  console.log(
    `${backend}, seed ${SEED}: ${fallen}; the run was done after ` +
      `${restMs} ms; ${unsure} attempts with an unknown outcome`,
  )
  expect(await repeated(companySite)).toEqual([])
}

function startVictim(stack: AsyncDisposableStack, { site }: CompanySite, name: 'daemon' | 'worker'): Victim {
  const start = () => stack.use(site.start(name === 'daemon' ? 'start' : 'worker'))
  return { name, start, program: start() }
}

/**
 * What the service did more often than there were changes that needed it. Nothing is excused: also where a crash fell
 * between the answer and its journal line, the next attempt looks before it sends.
 */
async function repeated(companySite: CompanySite): Promise<readonly string[]> {
  const counts = new Map<string, number>()
  for (const { method, url } of await companySite.writes()) {
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

/** How many attempts have an outcome that nobody knows: a crash fell between. */
async function unsureChanges(store: string, dataDir: string): Promise<number> {
  await using opened = await openStore(
    store === 'embedded' ? { kind: 'embedded', dataDir } : { kind: 'postgres', url: store },
  )
  const { rowCount } = await opened.pool.query('SELECT 1 FROM dirsyncd.journal WHERE outcome = $1', [
    'unknown',
  ])
  return rowCount ?? 0
}
