import { beforeAll, describe, expect, test } from 'vitest'
import { type Conformance, openConformance, type Result } from '../../src/conformance/conformance.ts'
import { type Endpoint, endpoints, type Operation } from '../../src/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { ask, problem } from './api.ts'
import { wholeTarget } from './whole-target.ts'
import { wideFixture } from './wide-fixture.ts'
import { describeService } from './with-service.ts'

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
  if (passingFault !== undefined) return [`${probe}: the first try failed: ${passingFault}`]
  return [...differences, ...notes].map(
    ({ expected, actual }) => `${probe}: expected ${expected}, got ${actual}`,
  )
}

describeService('every endpoint', { fixture: wideFixture() }, (service) => {
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
})

describeService('beside the table', {}, (service) => {
  test.each(['/api/v2/organizations/1/nothing', '/api/v3/organizations/1/admin/directories', '/nothing'])(
    '%s does not exist, with or without a token',
    async (path) => {
      for (const headers of [{}, { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'd' }]) {
        const answer = await fetch(`${service().baseUrl}${path}`, { headers })
        expect(answer.status).toBe(404)
        expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      }
    },
  )

  test('the scheme of the token is not case-sensitive', async () => {
    const headers = { authorization: `Token ${FIXTURE.token}` }
    expect((await ask(service(), 'listDirectories', { token: null, headers })).status).toBe(200)
  })

  test('a refused token is told no expiry, a token without the scope is', async () => {
    const refused = await ask(service(), 'listDirectories', { token: FIXTURE.expiredToken })
    expect(refused.headers.has('x-token-expires-in')).toBe(false)
    const lacking = await ask(service(), 'listDirectories', { token: FIXTURE.writeOnlyToken })
    expect(Number(lacking.headers.get('x-token-expires-in'))).toBeGreaterThan(29 * 86_400)
  })

  describe.each(['createUsers', 'createGroups', 'updateUser', 'updateGroup'] as const)('%s', (operation) => {
    test('takes JSON with the same names as a form', async () => {
      const name = 'Äöü "quoted"'
      const list = (endpoints[operation] as Endpoint).form?.list
      const externalId = `json ${operation}`
      const entry = { external_id: externalId, name }
      if (list === undefined) {
        const create = operation === 'updateUser' ? 'createUsers' : 'createGroups'
        const kind = operation === 'updateUser' ? 'users' : 'groups'
        await ask(service(), create, { json: { [kind]: [{ ...entry, name: 'before' }] } })
      }
      const json = list === undefined ? { name } : { [list]: [entry] }
      const answer = await ask(service(), operation, { externalId, json })
      expect([answer.body].flat()).toMatchObject([{ external_id: externalId, name }])
    })
  })

  test('the health route needs no token', async () => {
    const answer = await fetch(`${service().baseUrl}/healthz`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ status: 'ok' })
  })
})

describeService('the token of a blocked contact', {}, (service) => {
  test('is refused from the next request on, until the contact is active again', async () => {
    const setStatus = (status: string) =>
      service().pool.query('update access_management.contacts set status = $1 where id = $2', [
        status,
        FIXTURE.contactId,
      ])
    expect((await ask(service(), 'listDirectories')).status).toBe(200)
    await setStatus('blocked')
    expect(await ask(service(), 'listDirectories')).toMatchObject(problem(401))
    await setStatus('active')
    expect((await ask(service(), 'listDirectories')).status).toBe(200)
  })
})
