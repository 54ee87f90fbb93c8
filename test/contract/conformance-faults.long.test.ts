import { expect, test } from 'vitest'
import { openConformance, type Result } from '../../src/api/conformance/conformance.ts'
import { endpoints, type Operation } from '../../src/api/contract/endpoints.ts'
import { type RunningService, startForTest } from '../support/service.ts'
import { wholeTarget } from './whole-target.ts'
import { wideFixture } from './wide-fixture.ts'

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1)

/** Starts a service that answers some of the requests wrongly, at random. */
function startFaulty(seed: number): Promise<RunningService> {
  const faults = `500=0.02,429=0.01:50ms,drop-before=0.01,drop-after=0.01,seed=${seed}`
  return startForTest({ fixture: wideFixture(), faults })
}

function linesOf(results: readonly Result[], state: Result['state']): string[] {
  return results
    .filter((result) => result.state === state)
    .map(({ number, probe, reason, differences }) => {
      const texts = differences.map(({ expected, actual }) => `expected ${expected}, got ${actual}`)
      return `#${number} ${probe}: ${reason ?? texts.join(' and ')}`
    })
}

/** All results, and what was left behind. */
async function checkAll(baseUrl: string): Promise<{ results: Result[]; left: readonly string[] }> {
  const conformance = await openConformance(wholeTarget(baseUrl), AbortSignal.timeout(280_000))
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

test.each(SEEDS)('a service with random faults is not accused, and keeps nothing (seed %i)', async (seed) => {
  const service = await startFaulty(seed)
  const before = await rowsIn(service)
  const { results, left } = await checkAll(service.baseUrl)
  expect(linesOf(results, 'differs')).toEqual([])
  expect(linesOf(results, 'unclear')).toEqual([])
  expect(results.filter(({ passingFault }) => passingFault !== undefined).length).toBeGreaterThan(5)
  expect(left).toEqual([])
  expect(await rowsIn(service)).toEqual(before)
})
