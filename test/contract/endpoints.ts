import { beforeAll, expect, test } from 'vitest'
import { type Conformance, openConformance, type Result } from '../../src/api/conformance/conformance.ts'
import { type Endpoint, endpoints, type Operation } from '../../src/api/contract/endpoints.ts'
import type { RunningService } from '../support/service.ts'
import { ask } from './api.ts'
import { wholeTarget } from './whole-target.ts'

const ROWS = (Object.keys(endpoints) as Operation[]).map((operation) => {
  const endpoint: Endpoint = endpoints[operation]
  return { operation, endpoint, row: `#${endpoint.number} ${endpoint.method} ${endpoint.path}` }
})

/** What the suite tries with every endpoint, and with those that it is about. */
function mustBeTried({ number, path, paged, form, method }: Endpoint): string[] {
  return [
    'good',
    'no token',
    'unknown token',
    'expired token',
    'wrong scope',
    'no device id',
    'unknown organization',
    'organization of another organization',
    'headers of 17 KiB',
    ...(path.includes('{directory_id}') ? ['unknown directory', 'directory of another organization'] : []),
    ...(path.includes('{external_id}') ? ['unknown external id', 'external id of 10,000 characters'] : []),
    ...(path.includes('{subscription_id}') ? ['unknown subscription', 'subscription "abc"'] : []),
    ...(path.includes('{group_id}') ? ['unknown group', 'group of another organization'] : []),
    ...(form === undefined ? [] : ['JSON that is cut off', 'a body of type text/plain', 'a body of 17 MiB']),
    ...(paged === undefined ? [] : ['?page=x', '?page=0&per_page=3', '?per_page=0', '?per_page=101']),
    ...(paged === undefined ? [] : ['the first page', 'a page between', 'the last page', 'past the end']),
    ...(paged === undefined ? [] : ['all pages together']),
    ...(method === 'GET' ? ['device id of 255 characters'] : []),
    ...(number === 4 ? ['an entry with an unknown field only', 'an entry with a field without a name'] : []),
  ]
}

/** Differences, notes, what was not tried, and tries that failed or ended in different ways, as lines that say it. */
function complaints({ probe, state, reason, passingFault, differences, notes }: Result): string[] {
  if (state === 'not-checked' || state === 'unclear') return [`${probe}: ${state}, ${reason}`]
  // The service closes before it has read so much, and the client may see that before the answer.
  const isCut = probe === 'a body of 17 MiB' && passingFault?.startsWith('the connection was closed')
  if (passingFault !== undefined && isCut !== true) return [`${probe}: the first try failed: ${passingFault}`]
  return [...differences, ...notes].map(
    ({ expected, actual }) => `${probe}: expected ${expected}, got ${actual}`,
  )
}

/** Tries every endpoint of a service with the wide fixture as `access-service conformance` does. */
export function testEveryEndpoint(service: () => RunningService): void {
  let conformance: Conformance | undefined

  beforeAll(async () => {
    conformance = await openConformance(
      { ...wholeTarget(service().baseUrl), expendable: true },
      AbortSignal.timeout(600_000),
    )
  })

  test.each(ROWS)('$row', async ({ operation, endpoint }) => {
    const results = await Array.fromAsync(conformance!.check(operation))
    expect(results.flatMap(complaints)).toEqual([])
    expect(results.map(({ probe }) => probe)).toEqual(expect.arrayContaining(mustBeTried(endpoint)))
  })

  test('whatever was tried, nothing of it is left', async () => {
    expect(await conformance!.close()).toEqual([])
    const answer = await ask(service(), 'listUsers')
    expect(answer.headers.get('total')).toBe('45')
  })
}
