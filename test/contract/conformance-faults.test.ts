import { expect, onTestFinished, test } from 'vitest'
import { openConformance, type Result } from '../../src/conformance/conformance.ts'
import { endpoints, type Operation } from '../../src/contract/endpoints.ts'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { inLong } from '../support/long.ts'
import { type RunningService, startForTest } from '../support/service.ts'
import { wholeTarget } from './whole-target.ts'
import { wideFixture } from './wide-fixture.ts'

const SEEDS = Array.from({ length: inLong(0, 20) }, (_, index) => index + 1)

function startFaulty(seed: number): Promise<RunningService> {
  const faults = `500=0.02,429=0.01:50ms,drop-before=0.01,drop-after=0.01,seed=${seed}`
  return startForTest({ fixture: wideFixture(), faults })
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

function linesOf(results: readonly Result[], state: Result['state']): string[] {
  return results
    .filter((result) => result.state === state)
    .map(({ number, probe, reason, differences }) => {
      const texts = differences.map(({ expected, actual }) => `expected ${expected}, got ${actual}`)
      return `#${number} ${probe}: ${reason ?? texts.join(' and ')}`
    })
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

/** One wrong answer each, which must be found among the random faults. */
const WRONG: Readonly<Record<string, readonly [intercept: ApiProxy['intercept'], found: string]>> = {
  'a user that nobody has is found': [
    ({ method, url }) =>
      method === 'GET' && url.endsWith('/users/dirsyncd-check-nobody') ? { status: 200 } : undefined,
    '#5 unknown external id: expected a refusal (4xx), got 200',
  ],
  'an unknown group id crashes the service': [
    ({ url }) => (url.endsWith('/admin/groups/abc') ? 'cut' : undefined),
    '#21 group "abc": expected an answer, got the connection was closed without an answer',
  ],
  'an unknown group id is a server error': [
    ({ url }) => (url.endsWith('/admin/groups/abc') ? { status: 500 } : undefined),
    '#21 group "abc": expected a refusal (4xx), got 500',
  ],
}

test.each(Object.entries(WRONG))('%s: said also among random faults, and nothing else', async (_, wrong) => {
  const [intercept, found] = wrong
  const service = await startFaulty(3)
  const proxy = await startApiProxy(service.baseUrl)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  proxy.intercept = intercept
  const conformance = await openConformance(wholeTarget(proxy.baseUrl), AbortSignal.timeout(280_000))
  const operation = found.startsWith('#5') ? 'getUser' : 'getOrganizationGroup'
  const results = await Array.fromAsync(conformance.check(operation))
  expect(linesOf(results, 'differs')).toEqual([found])
  expect(await conformance.close()).toEqual([])
})
