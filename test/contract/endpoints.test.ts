import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Endpoint, endpoints, type Operation } from '../../src/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService } from '../support/service.ts'
import { type ApiRequest, ask, problem } from './api.ts'
import { describeService } from './with-service.ts'

/** For each row of the table a request that succeeds, and what has to be there first. */
const GOOD: { readonly [O in Operation]?: (service: RunningService) => Promise<ApiRequest> } = {
  listDirectories: async () => ({}),
  getDirectory: async () => ({}),
  listUsers: async () => ({}),
  createUsers: async () => ({ form: [['users[][external_id]', randomUUID()]] }),
  getUser: addUser,
  updateUser: async (service) => ({ ...(await addUser(service)), form: [['name', 'New Name']] }),
  deleteUser: addUser,
  listGroups: async () => ({}),
  createGroups: async () => ({
    form: [
      ['groups[][external_id]', randomUUID()],
      ['groups[][name]', 'Group'],
    ],
  }),
  getGroup: addGroup,
  deleteGroup: addGroup,
  updateGroup: async (service) => ({ ...(await addGroup(service)), form: [['name', 'New Name']] }),
}

async function addUser(service: RunningService): Promise<ApiRequest> {
  const externalId = randomUUID()
  const answer = await ask(service, 'createUsers', { json: { users: [{ external_id: externalId }] } })
  expect(answer.status).toBe(201)
  return { externalId }
}

async function addGroup(service: RunningService): Promise<ApiRequest> {
  const externalId = randomUUID()
  const answer = await ask(service, 'createGroups', {
    json: { groups: [{ external_id: externalId, name: 'G' }] },
  })
  expect(answer.status).toBe(201)
  return { externalId }
}

const ALL = Object.entries(endpoints)
  .filter(([operation]) => operation in GOOD)
  .map(([operation, endpoint]) => {
    const row: Endpoint = endpoint
    return {
      operation: operation as Operation,
      endpoint: row,
      row: `#${row.number} ${row.method} ${row.path}`,
    }
  })

describeService('every endpoint', {}, (service) => {
  describe.each(ALL)('$row', ({ operation, endpoint }) => {
    const good = () => GOOD[operation]!(service())

    test('answers as the contract says', async () => {
      const answer = await ask(service(), operation, await good())
      expect(answer.status).toBe(endpoint.status)
      expect(Number(answer.headers.get('x-token-expires-in'))).toBeGreaterThan(29 * 86_400)
      const shape = endpoint.response ?? z.undefined()
      expect(shape.safeParse(answer.body)).toMatchObject({ success: true })
    })

    test.each([
      ['no token', { token: null }],
      ['an unknown token', { token: 'nobody-knows-me' }],
      ['an expired token', { token: FIXTURE.expiredToken }],
      ['another scheme', { token: null, headers: { authorization: `Bearer ${FIXTURE.token}` } }],
    ])('refuses %s with 401', async (_name, credentials: ApiRequest) => {
      const answer = await ask(service(), operation, { ...(await good()), ...credentials })
      expect(answer).toMatchObject(problem(401))
      expect(answer.headers.get('www-authenticate')).toContain('token')
      expect(answer.headers.has('x-token-expires-in')).toBe(false)
    })

    test('refuses a token without the scope with 403', async () => {
      const token = endpoint.scope === 'ORG' ? FIXTURE.readOnlyToken : FIXTURE.writeOnlyToken
      const answer = await ask(service(), operation, { ...(await good()), token })
      expect(answer).toMatchObject(problem(403))
      expect(answer.headers.has('x-token-expires-in')).toBe(true)
    })

    test.each([
      ['no device id', null],
      ['a device id of 256 characters', 'd'.repeat(256)],
    ])('refuses %s with 400', async (_name, deviceId) => {
      expect(await ask(service(), operation, { ...(await good()), deviceId })).toMatchObject(problem(400))
    })

    test('takes a device id of 255 characters', async () => {
      const answer = await ask(service(), operation, { ...(await good()), deviceId: 'd'.repeat(255) })
      expect(answer.status).toBe(endpoint.status)
    })

    test.each([FIXTURE.otherOrganizationId, 999, 'abc', '01', '99999999999999999999'])(
      'answers 404 for the organization %s',
      async (organizationId) => {
        expect(await ask(service(), operation, { ...(await good()), organizationId })).toMatchObject(
          problem(404),
        )
      },
    )
  })

  const withDirectory = ALL.filter(({ endpoint }) => endpoint.path.includes('{directory_id}'))
  describe.each(withDirectory)('$row', ({ operation }) => {
    test.each([FIXTURE.otherDirectoryId, 999, 'abc', '0', '7.0', '99999999999999999999'])(
      'answers 404 for the directory %s',
      async (directoryId) => {
        const request = { ...(await GOOD[operation]!(service())), directoryId }
        expect(await ask(service(), operation, request)).toMatchObject(problem(404))
      },
    )
  })

  const withEntry = ALL.filter(({ endpoint }) => endpoint.path.includes('{external_id}'))
  describe.each(withEntry)('$row', ({ operation }) => {
    test.each([
      ['an unknown id', 'nobody'],
      ['an id of another organization', 'theirs'],
      ['an id in other letters', 'NOBODY'],
      ['an id with a NUL', 'a\0b'],
    ])('answers 404 for %s', async (_name, externalId) => {
      const answer = await ask(service(), operation, { ...(await GOOD[operation]!(service())), externalId })
      expect(answer).toMatchObject(problem(404))
    })

    test('answers 414 for an id of 10,000 characters', async () => {
      const request = { ...(await GOOD[operation]!(service())), externalId: 'x'.repeat(10_000) }
      expect(await ask(service(), operation, request)).toMatchObject(problem(414))
    })

    test('answers 400 for a path that is not percent-encoded UTF-8', async () => {
      const { method, path } = endpoints[operation]
      const broken = path.replace('{directory_id}', '7').replace('{external_id}', '%E0%A4%A')
      const url = `${service().baseUrl}/api/v2/organizations/1${broken}`
      expect((await fetch(url, { method })).status).toBe(400)
    })
  })

  const withForm = ALL.filter(({ endpoint }) => endpoint.form !== undefined)
  describe.each(withForm)('$row', ({ operation, endpoint }) => {
    test.each([
      ['JSON that is cut off', '{"name":', 'application/json'],
      ['JSON that is a list', '[]', 'application/json'],
      ['JSON that is a text', '"name"', 'application/json'],
      ['a form with a broken escape', 'name=%E0%A4%A', 'application/x-www-form-urlencoded'],
      ['a form with a name that is not closed', 'name=x&users[=x', 'application/x-www-form-urlencoded'],
      ['a form with one name in two ways', 'name=x&name[]=x&', 'application/x-www-form-urlencoded'],
      ['a form nested too deep', `name${'[a]'.repeat(20)}=x`, 'application/x-www-form-urlencoded'],
    ])('refuses %s with 400', async (_name, form, type) => {
      const request = { ...(await good()), form, headers: { 'content-type': type } }
      expect(await ask(service(), operation, request)).toMatchObject(problem(400))
    })

    test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense'])(
      'refuses a body of type %s with 415',
      async (type) => {
        const request = { ...(await good()), form: 'name=x', headers: { 'content-type': type } }
        expect(await ask(service(), operation, request)).toMatchObject(problem(415))
      },
    )

    test('refuses a body of 17 MiB with 413', async () => {
      const request = { ...(await good()), form: `name=${'x'.repeat(17 * 1024 * 1024)}` }
      expect(await ask(service(), operation, request)).toMatchObject(problem(413))
    })

    test('takes JSON with the same names as a form', async () => {
      const entry = { external_id: randomUUID(), name: 'Äöü "quoted"' }
      const json =
        endpoint.form?.list === undefined ? { name: entry.name } : { [endpoint.form.list]: [entry] }
      const { form: _form, ...request } = await good()
      const answer = await ask(service(), operation, { ...request, json })
      expect(answer.status).toBe(endpoint.status)
      const [shown] = [answer.body].flat() as { name: string }[]
      expect(shown?.name).toBe(entry.name)
    })

    const good = () => GOOD[operation]!(service())
  })

  const paged = ALL.filter(({ endpoint }) => endpoint.paged)
  describe.each(paged)('$row', ({ operation }) => {
    test.each(['?page=x', '?page=1.5', '?page=', '?page=0x1', '?per_page=all', '?per_page=1e2', '?page=NaN'])(
      'refuses %s with 400',
      async (query) => {
        const field = query.startsWith('?page') ? 'page' : 'per_page'
        expect(await ask(service(), operation, { query })).toMatchObject(problem(400, [field]))
      },
    )

    test.each([
      ['?per_page=0', '20'],
      ['?per_page=-5', '20'],
      ['?per_page=101', '100'],
      ['?per_page=99999999999999999999999', '100'],
      ['?page=0&per_page=3', '3'],
      ['?page=-1&per_page=3', '3'],
      ['?page=99999999999999999999999&per_page=3', '3'],
      ['?per_page=7&per_page=8', '8'],
    ])('clamps %s to %s a page', async (query, perPage) => {
      const answer = await ask(service(), operation, { query })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('per-page')).toBe(perPage)
    })
  })

  test('an endpoint that does not exist is 404, with or without a token', async () => {
    const answer = await fetch(`${service().baseUrl}/api/v2/organizations/1/nothing`)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  })

  test('the scheme of the token is not case-sensitive', async () => {
    const headers = { authorization: `Token ${FIXTURE.token}` }
    expect((await ask(service(), 'listDirectories', { token: null, headers })).status).toBe(200)
  })

  test('headers of 17 KiB are refused with 431', async () => {
    const answer = await ask(service(), 'listDirectories', { headers: { 'x-much': 'x'.repeat(17 * 1024) } })
    expect(answer).toMatchObject(problem(431))
  })

  test('the health route needs no token', async () => {
    const answer = await fetch(`${service().baseUrl}/healthz`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ status: 'ok' })
  })
})
