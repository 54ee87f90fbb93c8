import { describe, expect, test } from 'vitest'
import { type Endpoint, endpoints } from '../../src/api/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { ask, problem } from './api.ts'
import { testEveryEndpoint } from './endpoints.ts'
import { wideFixture } from './wide-fixture.ts'
import { describeService } from './with-service.ts'

describeService('every endpoint', { fixture: wideFixture() }, testEveryEndpoint)

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
