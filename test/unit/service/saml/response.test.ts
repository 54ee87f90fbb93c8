import { SAML } from '@node-saml/node-saml'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createKeyPair, type SigningKey } from '../../../../src/service/saml/signing-key.ts'
import { createResponse, type ServiceProvider, type Subject } from '../../../../src/service/saml/response.ts'
import { clean, element, isClean } from '../../../../src/service/saml/xml.ts'

const TO: ServiceProvider = {
  entityId: 'https://sp.example/saml?a=1&b=2',
  acsUrl: `https://sp.example/acs?a='1'&b="2"`,
  nameId: 'email',
}

const ISSUER = 'urn:example:issuer'

let key: SigningKey

beforeAll(async () => {
  key = await createKeyPair(1, new Date())
})

/** What another library reads in the response to a subject. */
async function read(subject: Subject) {
  const { xml } = createResponse(ISSUER, key, TO, subject, new Date())
  const serviceProvider = new SAML({
    issuer: TO.entityId,
    audience: TO.entityId,
    callbackUrl: TO.acsUrl,
    idpCert: key.certificate,
    wantAuthnResponseSigned: true,
    wantAssertionsSigned: true,
  })
  const SAMLResponse = Buffer.from(xml).toString('base64')
  return (await serviceProvider.validatePostResponseAsync({ SAMLResponse })).profile
}

/** Any UTF-16, half characters and control characters included. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(
        '<',
        '>',
        '&',
        '"',
        "'",
        ']]>',
        '<!--',
        '{name}',
        '$&',
        '&amp;',
        '\r',
        '\n',
        '\t',
        '🙂',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''))

describe('a response', () => {
  test('carries every attribute that XML can carry as it is, and the others without what it cannot', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (name, other) => {
        const profile = await read({ nameId: 'ada@example.org', attributes: { name, other } })
        const expected = Object.entries({ name: clean(name), other: clean(other) }).filter(
          ([, value]) => value,
        )
        expect(profile?.nameID).toBe('ada@example.org')
        expect(profile?.['attributes'] ?? {}).toEqual(Object.fromEntries(expected))
      }),
      { numRuns: 12 },
    )
  })

  test('carries every clean name id as it is, and no other one', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const nameId = `x${text}x`
        if (!isClean(nameId)) await expect(read({ nameId, attributes: {} })).rejects.toThrow(RangeError)
        else expect((await read({ nameId, attributes: {} }))?.nameID).toBe(nameId)
      }),
      { numRuns: 12 },
    )
  })

  test('is good for five minutes, from a little before it was made', () => {
    const now = new Date('2026-01-31T08:15:00.250Z')
    const { xml, expiresAt } = createResponse(ISSUER, key, TO, { nameId: 'ada', attributes: {} }, now)
    expect(expiresAt.toISOString()).toBe('2026-01-31T08:20:00.250Z')
    expect(xml).toContain(`NotBefore="2026-01-31T08:14:00.250Z" NotOnOrAfter="2026-01-31T08:20:00.250Z"`)
    expect(xml.match(/NotOnOrAfter="2026-01-31T08:20:00.250Z"/g)).toHaveLength(2)
    expect(xml).not.toContain('AttributeStatement')
  })

  test('says which key it was signed with, and how', () => {
    const { xml } = createResponse(ISSUER, key, TO, { nameId: 'ada', attributes: {} }, new Date())
    const algorithms = [...xml.matchAll(/Algorithm="([^"]+)"/g)].map(([, algorithm]) => algorithm)
    expect(new Set(algorithms)).toEqual(
      new Set([
        'http://www.w3.org/2001/10/xml-exc-c14n#',
        'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
        'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
        'http://www.w3.org/2001/04/xmlenc#sha256',
      ]),
    )
    expect(xml.match(/<ds:X509Certificate>/g)).toHaveLength(2)
    expect(xml).not.toContain('PRIVATE KEY')
  })
})

describe('XML', () => {
  test('is escaped in texts and in attributes, and what is XML is not', () => {
    const inner = element('b', { c: `<&>"'`, d: undefined }, `<&>"'`, undefined)
    expect(element('a', {}, inner).xml).toBe(
      '<a><b c="&lt;&amp;&gt;&quot;&apos;">&lt;&amp;&gt;&quot;&apos;</b></a>',
    )
  })

  test.each([
    '\0',
    '\u001b',
    '\r',
    '\n',
    '\t',
    '\u007f',
    '\u0085',
    '\u2028',
    '\u2029',
    '\ud800',
    '\udc00',
    '\uFFFE',
    '\uFFFF',
  ])('does not hold %j', (character) => {
    expect(isClean(`a${character}b`)).toBe(false)
    expect(clean(`${character}a${character}${character}b${character}`)).toBe('a b')
    expect(() => element('a', {}, character)).toThrow(RangeError)
    expect(() => element('a', { b: character }, '')).toThrow(RangeError)
  })
})
