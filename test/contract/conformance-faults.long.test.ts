import { expect, test } from 'vitest'
import { openConformance, type Result } from '../../src/api/conformance/conformance.ts'
import { endpoints, type Operation } from '../../src/api/contract/endpoints.ts'
import { type RunningService, startForTest } from '../support/service.ts'
import { testedService } from './tested.ts'
import { wideFixture } from './wide-fixture.ts'

const SEEDS = Array.from({ length: 10 }, (_, index) => index + 1)

/** Starts a service that answers some of the requests wrongly, at random. */
function startFaulty(seed: number): Promise<RunningService> {
  const faults = `500=0.02,429=0.01:50ms,drop-before=0.01,drop-after=0.01,seed=${seed}`
  return startForTest({ fixture: wideFixture(), faults })
}

/** Differences that are no fault of the service. */
function falseDifferences(results: readonly Result[]): string[] {
  return results.flatMap(({ number, probe, differences }) =>
    differences
      .filter(({ expected }) => expected !== 'no server error (5xx)' && expected !== 'an answer')
      .map(({ expected, actual }) => `#${number} ${probe}: expected ${expected}, got ${actual}`),
  )
}

/** All results, and what was left behind. */
async function checkAll(baseUrl: string): Promise<{ results: Result[]; left: readonly string[] }> {
  const conformance = await openConformance(testedService(baseUrl), AbortSignal.timeout(280_000))
  const results: Result[] = []
  for (const operation of Object.keys(endpoints) as Operation[]) {
    results.push(...(await Array.fromAsync(conformance.check(operation))))
  }
  return { results, left: await conformance.close() }
}

/** The rows that a check could have left behind. */
async function rowsIn({ pool }: RunningService): Promise<unknown> {
  const { rows } = await pool.query(
    `select (select count(*) from access_management.external_users) as users,
            (select count(*) from access_management.external_groups) as groups`,
  )
  return rows[0]
}

test.each(SEEDS)(
  'a service with random faults is accused of nothing else, and keeps nothing (seed %i)',
  async (seed) => {
    const service = await startFaulty(seed)
    const before = await rowsIn(service)
    const { results, left } = await checkAll(service.baseUrl)
    expect(falseDifferences(results)).toEqual([])
    const notOk = results.filter(({ state }) => state !== 'ok')
    expect(notOk.length).toBeLessThan(results.length / 20)
    expect(left).toEqual([])
    expect(await rowsIn(service)).toEqual(before)
  },
)
