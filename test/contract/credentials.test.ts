import { expect, test } from 'vitest'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import type { RunningService } from '../support/service.ts'
import { type ApiAnswer, type ApiRequest, ask, problem } from './api.ts'
import { describeService } from './with-service.ts'

const [adasPassword, , doorCode, bensPassword] = FIXTURE.secrets

const SCHEMA = 'access_management'

const read = (service: RunningService, request: ApiRequest = {}) => ask(service, 'readCredentials', request)
const reset = (service: RunningService, request: ApiRequest = {}) => ask(service, 'resetPassword', request)

/** The newest event first. */
async function events(service: RunningService): Promise<Record<string, unknown>[]> {
  const { rows } = await service.pool.query<Record<string, unknown>>(
    `select type, operation, description, actor, subject, host(ip) as ip from ${SCHEMA}.events order by id desc`,
  )
  return rows
}

function expectNoSecret(answer: ApiAnswer): void {
  const text = JSON.stringify([answer.body, [...answer.headers]])
  for (const secret of FIXTURE.secrets) expect(text).not.toContain(secret)
}

describeService('reading credentials', {}, (service) => {
  test('of an app gives its login and its password, and no cache keeps them', async () => {
    const answer = await read(service())
    expect(answer).toMatchObject({ status: 200, type: expect.stringContaining('application/json') })
    expect(answer.body).toEqual({ login: 'ada@example.org', password: adasPassword })
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('of a vault item gives its own properties', async () => {
    const answer = await read(service(), { subscriptionId: FIXTURE.vaultItemId })
    expect(answer).toMatchObject({ status: 200, body: { 'Door code': doorCode, Note: 'two turns' } })
  })

  test('is an event each time', async () => {
    const before = await events(service())
    await read(service(), { token: FIXTURE.benToken, subscriptionId: FIXTURE.bensSubscriptionId })
    await read(service(), { subscriptionId: FIXTURE.vaultItemId })
    const after = await events(service())
    expect(after).toHaveLength(before.length + 2)
    expect(after.slice(0, 2)).toMatchObject([
      {
        type: 'read_credentials',
        operation: 'read',
        description: { en: 'Ada Admin read the credentials of Front door.' },
        actor: { type: 'contact', id: FIXTURE.contactId },
        subject: { type: 'subscription', id: FIXTURE.vaultItemId, name: 'Front door' },
        ip: '127.0.0.1',
      },
      {
        description: { en: 'Ben Miller read the credentials of Atlas.' },
        actor: { type: 'contact', id: FIXTURE.benId },
        subject: { type: 'subscription', id: FIXTURE.bensSubscriptionId },
      },
    ])
    expect(JSON.stringify(after)).not.toContain('planted')
  })

  test.each([
    ["another contact's subscription", { subscriptionId: FIXTURE.bensSubscriptionId }, 404],
    ["another organization's subscription", { subscriptionId: FIXTURE.otherSubscriptionId }, 404],
    ['a subscription whose password may not be seen', { subscriptionId: FIXTURE.lockedSubscriptionId }, 403],
    ['a token with USER alone', { token: FIXTURE.userWriteToken }, 403],
    ['an expired token', { token: FIXTURE.expiredToken }, 401],
  ] satisfies [string, ApiRequest, number][])(
    'is refused with %s, and is no event then',
    async (_, request, status) => {
      const before = await events(service())
      const answer = await read(service(), request)
      expect(answer).toMatchObject(problem(status))
      expectNoSecret(answer)
      expect(await events(service())).toHaveLength(before.length)
    },
  )

  test('takes no GET', async () => {
    const response = await fetch(
      `${service().baseUrl}/api/v2/organizations/1/subscriptions/${FIXTURE.samlSubscriptionId}/credentials`,
      { headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'device' } },
    )
    expect(response.status).toBe(405)
    expect(await response.text()).not.toContain('planted')
  })
})

describeService('resetting a password', {}, (service) => {
  const sealed = async (id: number) => {
    const columns = 'credentials, key_id, password_strength, login'
    const { rows } = await service().pool.query(
      `select ${columns} from ${SCHEMA}.subscriptions where id = $1`,
      [id],
    )
    return rows[0] as Record<string, unknown>
  }

  test('gives the app a strong new password, and answers the subscription without it', async () => {
    const before = await sealed(FIXTURE.samlSubscriptionId)
    const answer = await reset(service())
    const strength = { grade: 'strong', score: 4, crack_time: expect.any(Number) }
    expect(answer).toMatchObject({
      status: 200,
      body: { id: FIXTURE.samlSubscriptionId, login: 'ada@example.org', password_strength: strength },
    })
    expect(answer.body).not.toHaveProperty('subscriber')
    const { body } = await read(service())
    const { login, password } = body as { login: string; password: string }
    expect(login).toBe('ada@example.org')
    expect(password).toMatch(/^[A-Za-z2-9][A-Za-z2-9_.:,@-]{19}$/)
    expect(JSON.stringify([answer.body, [...answer.headers]])).not.toContain(password)
    const after = await sealed(FIXTURE.samlSubscriptionId)
    expect(after).toMatchObject({ key_id: 'test', password_strength: strength, login: 'ada@example.org' })
    expect(after['credentials']).not.toBe(before['credentials'])
  })

  test('is an event without the password', async () => {
    const before = await events(service())
    await reset(service(), { token: FIXTURE.benToken, subscriptionId: FIXTURE.bensSubscriptionId })
    const [newest, ...others] = await events(service())
    expect(others).toHaveLength(before.length)
    expect(newest).toMatchObject({
      type: 'reset_password',
      operation: 'update',
      description: { en: 'Ben Miller reset the password of Atlas.' },
      actor: { type: 'contact', id: FIXTURE.benId },
      subject: { type: 'subscription', id: FIXTURE.bensSubscriptionId, name: 'Atlas' },
    })
    const now = await read(service(), { token: FIXTURE.benToken, subscriptionId: FIXTURE.bensSubscriptionId })
    const { password } = now.body as { password: string }
    expect(password).not.toBe(bensPassword)
    expect(JSON.stringify(await events(service()))).not.toContain(password)
  })

  test('ten at once leave one password that opens, and ten events', async () => {
    const before = await events(service())
    const answers = await Promise.all(Array.from({ length: 10 }, () => reset(service())))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(await events(service())).toHaveLength(before.length + 10)
    expect(await read(service())).toMatchObject({ status: 200 })
  })

  test('is refused for a vault item, also of a provider that resets passwords', async () => {
    const move = (installation: number) =>
      service().pool.query(`update ${SCHEMA}.subscriptions set installation_id = $1 where id = $2`, [
        installation,
        FIXTURE.vaultItemId,
      ])
    await move(31)
    const before = await sealed(FIXTURE.vaultItemId)
    const answer = await reset(service(), { subscriptionId: FIXTURE.vaultItemId })
    const after = await sealed(FIXTURE.vaultItemId)
    await move(32)
    expect(answer).toMatchObject(problem(409))
    expect(after).toEqual(before)
  })

  const theirs = { token: FIXTURE.otherToken, organizationId: FIXTURE.otherOrganizationId }
  test.each([
    ["another contact's subscription", { subscriptionId: FIXTURE.bensSubscriptionId }, 404, 'not-found'],
    [
      "another organization's subscription",
      { subscriptionId: FIXTURE.otherSubscriptionId },
      404,
      'not-found',
    ],
    [
      'a subscription that does not permit it',
      { subscriptionId: FIXTURE.lockedSubscriptionId },
      403,
      'not-permitted',
    ],
    ['a vault item', { subscriptionId: FIXTURE.vaultItemId }, 409, 'not-supported'],
    [
      'a provider that cannot',
      { ...theirs, subscriptionId: FIXTURE.otherSubscriptionId },
      409,
      'not-supported',
    ],
    ['a token with USER_READ alone', { token: FIXTURE.userReadToken }, 403, 'scope-missing'],
  ] satisfies [string, ApiRequest, number, string][])(
    'is refused with %s, and changes nothing then',
    async (_, request, status, code) => {
      const state = async () => {
        const { rows } = await service().pool.query(`select * from ${SCHEMA}.subscriptions order by id`)
        return [rows, await events(service())]
      }
      const before = await state()
      const answer = await reset(service(), request)
      expect(answer).toMatchObject(problem(status))
      expect(answer.body).toMatchObject({ type: `urn:access-management:problem:${code}` })
      expect(await state()).toEqual(before)
    },
  )
})

describeService(
  'a vault item with properties that are called like those of an app',
  { fixture: FIXTURE_YAML.replace('Note: "two turns"', 'login: planted-login, password: planted-pin') },
  (service) => {
    test('shows their values to nobody but who reads its credentials', async () => {
      const { body } = await read(service(), { subscriptionId: FIXTURE.vaultItemId })
      expect(body).toEqual({ 'Door code': doorCode, login: 'planted-login', password: 'planted-pin' })
      const list = await ask(service(), 'listSubscriptions')
      expect(list.status).toBe(200)
      expect(JSON.stringify(list.body)).not.toContain('planted')
      const { rows } = await service().pool.query(`select s::text from ${SCHEMA}.subscriptions s`)
      expect(JSON.stringify(rows)).not.toContain('planted')
    })
  },
)
