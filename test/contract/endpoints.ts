import { beforeAll, expect, test } from 'vitest'
import { type Conformance, openConformance, type Result } from '../../src/api/conformance/conformance.ts'
import { type Endpoint, endpoints, type Operation } from '../../src/api/contract/endpoints.ts'
import type { RunningService } from '../support/service.ts'
import { ask, problem } from './api.ts'
import { acceptedRequests, refusedRequests } from './edge-requests.ts'
import { testedService } from './tested.ts'

const ROWS = (Object.keys(endpoints) as Operation[]).map((operation) => {
  const endpoint: Endpoint = endpoints[operation]
  return { operation, endpoint, row: `#${endpoint.number} ${endpoint.method} ${endpoint.path}` }
})

/** What the suite tries with every endpoint, and with those that it is about. */
function mustBeTried({ number, path, paged }: Endpoint): string[] {
  return [
    'good',
    'no token',
    'unknown token',
    'unknown organization',
    ...(path.includes('{directory_id}') ? ['unknown directory'] : []),
    ...(path.includes('{external_id}') ? ['unknown external id'] : []),
    ...(path.includes('{subscription_id}') ? ['unknown subscription', 'subscription "abc"'] : []),
    ...(path.includes('{group_id}') ? ['unknown group'] : []),
    ...(number === 9 || number === 12 ? ['name missing'] : []),
    ...(number === 4 || number === 9 ? ['three entries in one request'] : []),
    ...(paged === undefined ? [] : ['?page=1', '?per_page=1', '?per_page=100', 'all pages together']),
    ...(paged === undefined ? [] : ['the first page', 'a page between', 'the last page', 'past the end']),
  ]
}

/** Differences, and what was not tried. */
function complaints({ probe, state, reason, differences, unstated }: Result): string[] {
  if (state === 'not-checked') return [`${probe}: not checked, ${reason}`]
  return [...differences, ...(unstated === undefined ? [] : [unstated])].map(
    ({ expected, actual }) => `${probe}: expected ${expected}, got ${actual}`,
  )
}

/** Tests every endpoint of a service with the wide fixture: what the description states, and what is our own. */
export function testEveryEndpoint(service: () => RunningService): void {
  let conformance: Conformance | undefined

  beforeAll(async () => {
    conformance = await openConformance(testedService(service().baseUrl), AbortSignal.timeout(600_000))
  })

  test.each(ROWS)('$row conforms to the description', async ({ operation, endpoint }) => {
    const results = await Array.fromAsync(conformance!.check(operation))
    expect(results.flatMap(complaints)).toEqual([])
    expect(results.map(({ probe }) => probe)).toEqual(expect.arrayContaining(mustBeTried(endpoint)))
  })

  test.each(ROWS)('$row refuses what it cannot take', async ({ operation }) => {
    for (const [what, request, status] of refusedRequests(operation)) {
      const answer = await ask(service(), operation, request)
      expect([what, answer]).toMatchObject([what, problem(status)])
      expect([what, answer.headers.has('www-authenticate')]).toEqual([what, status === 401])
    }
  })

  test.each(ROWS)('$row takes what is unusual', async ({ operation }) => {
    for (const [query, request, headers] of acceptedRequests(operation)) {
      const answer = await ask(service(), operation, { query, ...request })
      expect([query, answer.status]).toEqual([query, 200])
      expect(Object.fromEntries(answer.headers)).toMatchObject(headers)
    }
  })

  test('whatever was tried, nothing of it is left', async () => {
    expect(await conformance!.close()).toEqual([])
    const totals = await Promise.all(
      (['listUsers', 'listGroups'] as const).map(async (operation) => {
        return (await ask(service(), operation)).headers.get('total')
      }),
    )
    expect(totals).toEqual(['45', '25'])
  })
}
