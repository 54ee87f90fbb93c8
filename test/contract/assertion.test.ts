import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Assertion } from '../../src/api/contract/subscription.ts'
import { currentSigningKey } from '../../src/service/store/signing-keys.ts'
import { openDatabase } from '../../src/service/store/database.ts'
import { FIXTURE } from '../support/fixture.ts'
import { testVault } from '../support/service.ts'
import { type ApiAnswer, type ApiRequest, ask, problem } from './api.ts'
import { describeService } from './with-service.ts'

const ISSUER = `urn:access-management:organization:${FIXTURE.organizationId}`

/** The XML of the answer's response. */
function xmlOf(answer: ApiAnswer): string {
  return Buffer.from((answer.body as Assertion).saml_response, 'base64').toString()
}

describeService('a SAML assertion', {}, (service) => {
  const create = (request: ApiRequest = {}) => ask(service(), 'createAssertion', request)
  const query = async (sql: string, ...values: unknown[]) => (await service().pool.query(sql, values)).rows

  /** Changes a row for the time of one test. */
  async function using<Result>(change: string, back: string, work: () => Promise<Result>): Promise<Result> {
    await query(change)
    try {
      return await work()
    } finally {
      await query(back)
    }
  }

  test('is answered with all that a login needs', async () => {
    const before = Date.now()
    const answer = await create()
    expect(answer).toMatchObject({
      status: 200,
      body: { acs_url: 'https://atlas.example/saml/acs', issuer: ISSUER },
    })
    expect(answer.body).not.toHaveProperty('relay_state')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { expires_at: expiresAt, certificate, metadata } = answer.body as Assertion
    const lifetime = Date.parse(expiresAt) - before
    expect(lifetime).toBeGreaterThanOrEqual(300_000)
    expect(lifetime).toBeLessThan(330_000)
    expect(metadata).toContain(certificate.replaceAll(/-----.*-----|\s/g, ''))
    expect(metadata).toContain(`entityID="${ISSUER}"`)
    expect(metadata).toContain(`<md:SingleSignOnService Binding="`)
  })

  test('names the contact to the service provider, and asks nobody', async () => {
    const xml = xmlOf(await create())
    expect(xml).toContain('Destination="https://atlas.example/saml/acs"')
    expect(xml).toContain('Recipient="https://atlas.example/saml/acs"')
    expect(xml).toContain('<saml:Audience>https://atlas.example/saml</saml:Audience>')
    expect(xml).toMatch(/<saml:NameID Format="[^"]+:emailAddress">ada@example.org<\/saml:NameID>/)
    expect(attributesOf(xml)).toEqual({
      email: 'ada@example.org',
      first_name: 'Ada',
      last_name: 'Admin',
      name: 'Ada Admin',
    })
    expect(xml).not.toContain('InResponseTo')
    expect(xml.match(/<ds:Signature /g)).toHaveLength(2)
    expect(xml).not.toContain('sha1')
  })

  test('names the login where the service provider wants that', async () => {
    await query(`update access_management.subscriptions set login = 'ada.login' where id = 101`)
    const xml = await using(nameIdOf31('login'), nameIdOf31('email'), async () => xmlOf(await create()))
    expect(xml).toMatch(/<saml:NameID Format="[^"]+:unspecified">ada.login<\/saml:NameID>/)
  })

  test('is an event, and a login, in one transaction', async () => {
    const [before] = await query('select max(id) as id from access_management.events')
    const start = Date.now()
    expect((await create()).status).toBe(200)
    const events = await query('select * from access_management.events where id > $1', before.id)
    expect(events).toMatchObject([
      {
        organization_id: FIXTURE.organizationId,
        type: 'create_assertion',
        operation: 'create',
        description: { en: 'Ada Admin created a SAML assertion for Atlas.' },
        actor: { type: 'contact', id: FIXTURE.contactId },
        subject: { type: 'subscription', id: FIXTURE.samlSubscriptionId, name: 'Atlas' },
      },
    ])
    const [row] = await query('select last_login from access_management.subscriptions where id = 101')
    expect((row.last_login as Date).getTime()).toBeGreaterThanOrEqual(start)
  })

  describe('with a RelayState', () => {
    test.each([
      ['nothing', ''],
      ['blanks and signs', ' a+b "c" <d> & \t\n'],
      ['80 bytes of 20 characters', '🙂'.repeat(20)],
    ])('%s is handed back as it is', async (_name, relayState) => {
      const form = [['RelayState', relayState]] as const
      expect((await create({ form })).body).toMatchObject({ relay_state: relayState })
      expect((await create({ json: { RelayState: relayState } })).body).toMatchObject({
        relay_state: relayState,
      })
    })

    test.each([
      ['82 bytes of 41 characters', 'é'.repeat(41)],
      ['half a character', '\ud800'],
    ])('%s is refused, and nothing happens', async (_name, relayState) => {
      const count = 'select count(*)::int as events from access_management.events'
      const before = await query(count)
      expect(await create({ json: { RelayState: relayState } })).toMatchObject(problem(422, ['RelayState']))
      expect(await query(count)).toEqual(before)
    })
  })

  test.each([
    ["another contact's", FIXTURE.bensSubscriptionId],
    ["another organization's", FIXTURE.otherSubscriptionId],
  ])('is not made for %s', async (_name, subscriptionId) => {
    expect(await create({ subscriptionId })).toMatchObject(problem(404))
  })

  const unsupported = async (subscriptionId: number = FIXTURE.samlSubscriptionId) => {
    const answer = await create({ subscriptionId })
    expect(answer).toMatchObject(problem(409))
    expect(answer.body).toMatchObject({ type: 'urn:access-management:problem:not-supported' })
  }

  describe('is not supported', () => {
    test('by an installation whose provider has no SAML', async () =>
      unsupported(FIXTURE.lockedSubscriptionId))

    test('by a vault item', async () => unsupported(FIXTURE.vaultItemId))

    test.each([
      [
        'by a provider without the capability',
        `update access_management.providers set capabilities = capabilities || '{"has_saml": false}'`,
        `update access_management.providers set capabilities = capabilities || '{"has_saml": true}' where id = 1`,
      ],
      [
        'by an installation without a service provider',
        `alter table access_management.installations rename service_provider to kept;
         alter table access_management.installations add service_provider jsonb`,
        `alter table access_management.installations drop service_provider;
         alter table access_management.installations rename kept to service_provider`,
      ],
      [
        'with a name id that XML cannot carry',
        String.raw`update access_management.contacts set email = E'ada\x01@example.org' where id = 11`,
        `update access_management.contacts set email = 'ada@example.org' where id = 11`,
      ],
      [
        'without a name id',
        `update access_management.contacts set email = '' where id = 11`,
        `update access_management.contacts set email = 'ada@example.org' where id = 11`,
      ],
    ])('%s', (_name, change, back) => using(change, back, unsupported))
  })

  describe('the identity provider', () => {
    test('has one certificate for ten years, which is its own', async () => {
      const certificates = (await Promise.all([create(), create()])).map(
        ({ body }) => (body as Assertion).certificate,
      )
      expect(certificates[0]).toBe(certificates[1])
      const certificate = new X509Certificate(certificates[0]!)
      expect(certificate.verify(certificate.publicKey)).toBe(true)
      expect(certificate.ca).toBe(false)
      expect(certificate.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 3072 })
      const years = (certificate.validToDate.getTime() - Date.now()) / (365.25 * 86_400_000)
      expect(years).toBeGreaterThan(9.9)
      expect(years).toBeLessThan(10.1)
    })

    test('has a private key that only the vault opens, for this organization', async () => {
      await create()
      const [row] = await query('select * from access_management.signing_keys')
      expect(JSON.stringify(row)).not.toContain('PRIVATE KEY')
      const vault = testVault()
      const open = (id: number) => vault.open(row.private_key, row.key_id, `identity-provider:${id}`)
      expect(open(row.id)).toContain('PRIVATE KEY')
      expect(() => open(row.id + 1)).toThrow('cannot be decrypted')
    })

    test('is the same for all who make it at once', async () => {
      await query('delete from access_management.signing_keys')
      const db = openDatabase(service().pool)
      const make = async () => currentSigningKey(db, testVault(), FIXTURE.organizationId, new Date())
      const made = await Promise.all([make(), make(), make(), make()])
      expect(new Set(made.map(({ certificate }) => certificate)).size).toBe(1)
      expect(new Set(made.map(({ privateKey }) => privateKey)).size).toBe(1)
      expect((await create()).body).toMatchObject({ certificate: made[0]?.certificate })
    })
  })
})

function nameIdOf31(nameId: string): string {
  return `update access_management.installations
    set service_provider = service_provider || '{"nameId": "${nameId}"}' where id = 31`
}

/** Of a response whose values need no escaping. */
function attributesOf(xml: string): Record<string, string> {
  const pattern = /<saml:Attribute Name="([^"]+)"[^>]*><saml:AttributeValue>([^<]*)</g
  return Object.fromEntries([...xml.matchAll(pattern)].map(([, name, value]) => [name, value]))
}
