import { SAML, type SamlConfig } from '@node-saml/node-saml'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Assertion } from '../../src/api/contract/subscription.ts'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import { type Mellon, mellonAcsUrl, startMellon } from '../support/saml-mellon.ts'
import { operatorOf } from '../support/operator.ts'
import { TAMPERINGS, VICTIM } from '../support/saml-tampering.ts'
import { freePort } from '../support/server-process.ts'
import { type RunningService, startService } from '../support/service.ts'

/**
 * Whether service providers take what the service signs, and nothing else: node-saml, which is JavaScript, and Apache's
 * mod_auth_mellon, which shares no line with it (lasso, xmlsec, OpenSSL).
 */
const ENTITY_ID = 'https://atlas.example/saml'

const MINUTE = 60_000

/** Names as people have them, and as attackers would like to have them; each must arrive as it is. */
const NAMES = [
  'Zoë "Zed" O’Brien-Müller 山田 🙂',
  `D'Arcy & Söhne <GmbH> "x" ]]>`,
  '&amp; &lt; &#60; %3C \\u003c',
  '{NameID} {attrEmail} ${email} $& $1 $$',
  '</saml:AttributeValue></saml:Attribute><saml:Attribute Name="role"><saml:AttributeValue>admin',
  `</saml:AttributeValue></saml:Attribute></saml:AttributeStatement><saml:Subject><saml:NameID>${VICTIM}</saml:NameID></saml:Subject>`,
  '<!-- x --> ]]><![CDATA[ <?xml version="1.0"?>',
  '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;',
]

let service: RunningService
let mellon: Mellon
let port: number
/** How far the service's clock is off, in milliseconds. */
let skew = 0

async function createAssertion(relayState?: string): Promise<Assertion> {
  const { baseUrl } = service
  const path = `/api/v2/organizations/${FIXTURE.organizationId}/subscriptions/${FIXTURE.samlSubscriptionId}/assertion`
  const answer = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `token ${FIXTURE.userReadToken}`, 'x-device-id': 'browser' },
    ...(relayState === undefined ? {} : { body: new URLSearchParams({ RelayState: relayState }) }),
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Assertion
}

async function rename(name: string): Promise<void> {
  await service.pool.query('update access_management.contacts set name = $1 where id = 11', [name])
}

/** Changes what the service knows of the service provider. */
async function sendTo(serviceProvider: object): Promise<void> {
  const sql =
    'update access_management.installations set service_provider = service_provider || $1::jsonb where id = 31'
  await service.pool.query(sql, [JSON.stringify(serviceProvider)])
}

/** What the service signs with once its key was replaced; the old one is back afterwards. */
async function signedByAnotherKey(): Promise<Assertion> {
  const table = 'access_management.signing_keys'
  await service.pool.query(`create table kept as select * from ${table}`)
  try {
    await service.pool.query(`delete from ${table}`)
    return await createAssertion()
  } finally {
    await service.pool.query(`delete from ${table}`)
    await service.pool.query(`insert into ${table} select * from kept`)
    await service.pool.query('drop table kept')
  }
}

function tampered(assertion: Assertion, tamper: (xml: string) => string): string {
  const xml = Buffer.from(assertion.saml_response, 'base64').toString()
  return Buffer.from(tamper(xml)).toString('base64')
}

/** What node-saml reads in a response; it rejects one that it refuses. */
async function accept(response: string, certificate: string, options: Partial<SamlConfig> = {}) {
  const serviceProvider = new SAML({
    issuer: ENTITY_ID,
    audience: ENTITY_ID,
    callbackUrl: mellonAcsUrl(port),
    idpCert: certificate,
    wantAuthnResponseSigned: true,
    wantAssertionsSigned: true,
    ...options,
  })
  const { profile } = await serviceProvider.validatePostResponseAsync({ SAMLResponse: response })
  return profile
}

beforeAll(async () => {
  port = await freePort()
  service = await startService({
    fixture: FIXTURE_YAML.replace('https://atlas.example/saml/acs', mellonAcsUrl(port)),
    now: () => new Date(Date.now() + skew),
  })
  const { metadata } = await createAssertion()
  mellon = await startMellon({ port, entityId: ENTITY_ID, metadata })
})

afterAll(async () => {
  await mellon?.close()
  await service?.close()
})

afterEach(async () => {
  vi.useRealTimers()
  skew = 0
  await rename('Ada Admin')
  await sendTo({ entityId: ENTITY_ID, acsUrl: mellonAcsUrl(port), nameId: 'email' })
})

describe('node-saml', () => {
  test('takes a response, with the certificate of the answer and with that of the metadata', async () => {
    const { saml_response: response, certificate, metadata } = await createAssertion()
    const [, body] = /<ds:X509Certificate>([^<]+)</.exec(metadata) ?? []
    for (const each of [certificate, body ?? '']) {
      expect(await accept(response, each)).toMatchObject({
        issuer: `urn:access-management:organization:${FIXTURE.organizationId}`,
        nameID: 'ada@example.org',
        nameIDFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
        sessionIndex: expect.any(String) as unknown,
        attributes: {
          email: 'ada@example.org',
          first_name: 'Ada',
          last_name: 'Admin',
          name: 'Ada Admin',
        },
      })
    }
  })

  test.each(NAMES)('gets the name %j as it is, and nothing else', async (name) => {
    await rename(name)
    const { saml_response: response, certificate } = await createAssertion()
    const profile = await accept(response, certificate)
    expect(profile?.nameID).toBe('ada@example.org')
    expect(profile?.['attributes']).toMatchObject({ name, email: 'ada@example.org' })
    expect(profile?.['attributes']).not.toHaveProperty('role')
  })

  test('gets a name without the characters that XML has not', async () => {
    await rename('Ada\u0001\u001b[31m\r\n\t\u0085 Admin\uFFFE')
    const { saml_response: response, certificate } = await createAssertion()
    const profile = await accept(response, certificate)
    expect(profile?.['attributes']).toMatchObject({ name: 'Ada [31m  Admin' })
  })

  test.each(TAMPERINGS)('refuses $name', async ({ tamper }) => {
    const assertion = await createAssertion()
    const response = tampered(assertion, tamper)
    const why = /signature|assertion|canonicalization/i
    await expect(accept(response, assertion.certificate)).rejects.toThrow(why)
    // Nor does one that is content with either signature.
    for (const options of [{ wantAuthnResponseSigned: false }, { wantAssertionsSigned: false }]) {
      await expect(accept(response, assertion.certificate, options)).rejects.toThrow(why)
    }
  })

  test('refuses a response that is signed with another key, although it brings the certificate', async () => {
    const { certificate } = await createAssertion()
    const other = await signedByAnotherKey()
    await expect(accept(other.saml_response, certificate)).rejects.toThrow('Invalid document signature')
    expect(await accept(other.saml_response, other.certificate)).toMatchObject({ nameID: 'ada@example.org' })
  })

  test('refuses a response for another audience', async () => {
    const { saml_response: response, certificate } = await createAssertion()
    const audience = { audience: 'https://other.example/saml' }
    await expect(accept(response, certificate, audience)).rejects.toThrow('audience mismatch')
  })

  test('refuses a response before and after its time', async () => {
    const { saml_response: response, certificate, expires_at: expiresAt } = await createAssertion()
    const end = Date.parse(expiresAt)
    const at = async (time: number) => {
      vi.useFakeTimers({ toFake: ['Date'], now: time })
      return accept(response, certificate, { acceptedClockSkewMs: 0 })
    }
    await expect(at(end - 7 * MINUTE)).rejects.toThrow('not yet valid')
    expect(await at(end - 5.5 * MINUTE)).toMatchObject({ nameID: 'ada@example.org' })
    expect(await at(end - 1000)).toMatchObject({ nameID: 'ada@example.org' })
    await expect(at(end)).rejects.toThrow('expired')
  })

  // Of what was asked for it remembers the request; of what was not, the application has to remember the assertion.
  test('leaves it to the application to refuse a replay', async () => {
    const { saml_response: response, certificate } = await createAssertion()
    const seen = new Set<string>()
    const login = async () => {
      const id = / ID="([^"]+)"/.exec((await accept(response, certificate))?.getAssertionXml?.() ?? '')?.[1]
      if (id === undefined || seen.has(id)) throw new Error('replayed')
      seen.add(id)
    }
    await login()
    await expect(login()).rejects.toThrow('replayed')
  })
})

describe('mod_auth_mellon', () => {
  test('lets a contact in, to the page of the RelayState', async () => {
    const { saml_response: response, relay_state: relayState } = await createAssertion('/private/report?q=1')
    expect(await mellon.login(response, relayState)).toEqual({
      path: '/private/report?q=1',
      nameId: 'ada@example.org',
      attributes: {
        email: 'ada@example.org',
        first_name: 'Ada',
        last_name: 'Admin',
        name: 'Ada Admin',
      },
    })
  })

  test('lets a contact in without a RelayState, to its default page', async () => {
    const { saml_response: response } = await createAssertion()
    expect(await mellon.login(response)).toMatchObject({
      path: '/private/default',
      nameId: 'ada@example.org',
    })
  })

  test('understands the metadata', async () => {
    expect(await mellon.requestWithoutLogin()).toContain('IdP=urn%3Aaccess%2Dmanagement%3Aorganization%3A1')
  })

  test('lets a contact in by the login, with signs of XML in it', async () => {
    const login = `ada & "co" <x> 'y' ü`
    await service.pool.query('update access_management.subscriptions set login = $1 where id = 101', [login])
    await sendTo({ nameId: 'login' })
    const { saml_response: response } = await createAssertion()
    expect(await mellon.login(response)).toMatchObject({ nameId: login })
  })

  test.each(NAMES)('gets the name %j as it is', async (name) => {
    await rename(name)
    const { saml_response: response } = await createAssertion()
    expect(await mellon.login(response)).toMatchObject({
      nameId: 'ada@example.org',
      attributes: { name, email: 'ada@example.org' },
    })
  })

  test('refuses a replay by itself', async () => {
    const { saml_response: response } = await createAssertion()
    expect(await mellon.login(response)).toMatchObject({ nameId: 'ada@example.org' })
    await mellon.newLog()
    expect(await mellon.login(response)).toBeUndefined()
    expect(await mellon.newLog()).toContain('has already been used')
  })

  test.each(TAMPERINGS)('refuses $name', async ({ tamper }) => {
    const assertion = await createAssertion()
    await mellon.newLog()
    expect(await mellon.login(tampered(assertion, tamper))).toBeUndefined()
    expect(await mellon.newLog()).toMatch(
      /verify signature|Signature element not found|looking for an assertion/,
    )
  })

  test('refuses a response that is signed with another key', async () => {
    const { saml_response: response } = await signedByAnotherKey()
    await mellon.newLog()
    expect(await mellon.login(response)).toBeUndefined()
    expect(await mellon.newLog()).toContain('Failed to verify signature')
  })

  test.each([
    ['that is over', -10, 'NotOnOrAfter in SubjectConfirmationData was in the past'],
    ['that has not begun', 10, 'NotBefore in Condition was in the future'],
  ])('refuses a response %s', async (_name, minutes, why) => {
    skew = minutes * MINUTE
    const { saml_response: response } = await createAssertion()
    await mellon.newLog()
    expect(await mellon.login(response)).toBeUndefined()
    expect(await mellon.newLog()).toContain(why)
  })

  test.each([
    ['another audience', { entityId: 'https://other.example/saml' }, 'Invalid Audience'],
    ['another address', { acsUrl: 'https://other.example/acs' }, 'Invalid Destination'],
  ])('refuses a response for %s', async (_name, serviceProvider, why) => {
    await sendTo(serviceProvider)
    const { saml_response: response } = await createAssertion()
    await mellon.newLog()
    expect(await mellon.login(response)).toBeUndefined()
    expect(await mellon.newLog()).toContain(why)
  })
})

describe('a change of keys', () => {
  test('lets contacts in all the time, where the application has the metadata with both', async () => {
    const perform = operatorOf(service)
    const organization = { organizationId: FIXTURE.organizationId }
    const [old] = await perform('listSamlKeys', organization)
    const next = await perform('createSamlKey', organization)
    expect([old?.current, next.current]).toEqual([true, false])
    const { metadata } = await perform('readSamlMetadata', organization)
    expect(metadata.match(/<ds:X509Certificate>/g)).toHaveLength(2)
    const ready = await startMellon({ port: await freePort(), entityId: ENTITY_ID, metadata })
    try {
      const [before, again] = [await createAssertion(), await createAssertion()]
      expect(await mellon.login(before.saml_response)).toMatchObject({ nameId: 'ada@example.org' })
      await sendTo({ acsUrl: ready.acsUrl })
      expect(again.certificate).toBe(before.certificate)
      expect(await ready.login((await createAssertion()).saml_response)).toBeDefined()

      await perform('useSamlKey', { id: next.id })
      const after = await createAssertion()
      expect(after.certificate).not.toBe(before.certificate)
      expect(await ready.login(after.saml_response)).toMatchObject({ nameId: 'ada@example.org' })
      await sendTo({ acsUrl: mellonAcsUrl(port) })
      expect(await mellon.login((await createAssertion()).saml_response)).toBeUndefined()

      await expect(perform('removeSamlKey', { id: next.id })).rejects.toThrow(`The key ${next.id} signs for`)
      await perform('useSamlKey', { id: old!.id })
      await perform('removeSamlKey', { id: next.id })
      expect(await perform('listSamlKeys', organization)).toEqual([old])
      expect(await mellon.login((await createAssertion()).saml_response)).toBeDefined()
    } finally {
      await ready.close()
    }
  })

  test('is not a change of the entity id, which the operator chooses', async () => {
    const perform = operatorOf(service)
    const change = (entityId: string) =>
      perform('changeResource', {
        resource: 'organization',
        id: FIXTURE.organizationId,
        values: { entityId },
      })
    await change('https://access.example/northgate')
    const { issuer, metadata } = await createAssertion()
    expect(issuer).toBe('https://access.example/northgate')
    expect(metadata).toContain('entityID="https://access.example/northgate"')
    await change(`urn:access-management:organization:${FIXTURE.organizationId}`)
    const other = { organizationId: FIXTURE.otherOrganizationId }
    expect((await perform('readSamlMetadata', other)).entityId).toMatch(/^urn:uuid:[0-9a-f-]{36}$/)
  })
})
