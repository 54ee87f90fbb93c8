import { randomBytes } from 'node:crypto'
import type { SigningKey } from './signing-key.ts'
import { BASIC_NAME, BEARER, NAME_ID_FORMATS, NAMESPACES, SUCCESS, UNSPECIFIED_LOGIN } from './names.ts'
import { sign } from './sign.ts'
import { clean, element, type Xml } from './xml.ts'

export interface ServiceProvider {
  readonly entityId: string
  /** The assertion consumer service, HTTP-POST binding. */
  readonly acsUrl: string
  /** The contact's e-mail, or the login of the subscription. */
  readonly nameId: 'email' | 'login'
}

export interface Subject {
  /** Clean (see `isClean`), because a changed character could make it the name of another account. */
  readonly nameId: string
  /** By name; unclean characters become blanks, and a value that is then empty, or null, is left out. */
  readonly attributes: Readonly<Record<string, string | null>>
}

/** Validity of a response, and the tolerated delay of the service provider's clock. */
const LIFETIME_MS = 5 * 60_000
const CLOCK_SKEW_MS = 60_000

interface ResponseInput {
  readonly issuer: string
  readonly to: ServiceProvider
  readonly subject: Subject
  readonly now: Date
  readonly expiresAt: Date
}

/**
 * An unsolicited SAML response (the login begins at the identity provider) with one assertion; both are signed. Throws
 * a `RangeError` where the name id, the entity id or the address is not clean.
 */
export function createResponse(
  issuer: string,
  key: SigningKey,
  to: ServiceProvider,
  subject: Subject,
  now: Date,
): { readonly xml: string; readonly expiresAt: Date } {
  const expiresAt = new Date(now.getTime() + LIFETIME_MS)
  const { xml } = response({ issuer, to, subject, now, expiresAt })
  const assertionPath = `/*/*[local-name(.)='Assertion']`
  const signed = sign(xml, assertionPath, key)
  return { xml: sign(signed, '/*', key), expiresAt }
}

function response(input: ResponseInput): Xml {
  return element(
    'samlp:Response',
    {
      'xmlns:samlp': NAMESPACES.protocol,
      'xmlns:saml': NAMESPACES.assertion,
      ID: newId(),
      Version: '2.0',
      IssueInstant: input.now.toISOString(),
      Destination: input.to.acsUrl,
    },
    element('saml:Issuer', {}, input.issuer),
    element('samlp:Status', {}, element('samlp:StatusCode', { Value: SUCCESS })),
    assertion(input),
  )
}

function assertion(input: ResponseInput): Xml {
  const now = input.now.toISOString()
  return element(
    'saml:Assertion',
    { ID: newId(), Version: '2.0', IssueInstant: now },
    element('saml:Issuer', {}, input.issuer),
    subjectOf(input),
    element(
      'saml:Conditions',
      {
        NotBefore: new Date(input.now.getTime() - CLOCK_SKEW_MS).toISOString(),
        NotOnOrAfter: input.expiresAt.toISOString(),
      },
      element('saml:AudienceRestriction', {}, element('saml:Audience', {}, input.to.entityId)),
    ),
    element(
      'saml:AuthnStatement',
      { AuthnInstant: now, SessionIndex: newId() },
      element('saml:AuthnContext', {}, element('saml:AuthnContextClassRef', {}, UNSPECIFIED_LOGIN)),
    ),
    attributeStatement(input.subject.attributes),
  )
}

function subjectOf({ subject, to, expiresAt }: ResponseInput): Xml {
  const confirmation = { Recipient: to.acsUrl, NotOnOrAfter: expiresAt.toISOString() }
  return element(
    'saml:Subject',
    {},
    element('saml:NameID', { Format: NAME_ID_FORMATS[to.nameId] }, subject.nameId),
    element(
      'saml:SubjectConfirmation',
      { Method: BEARER },
      element('saml:SubjectConfirmationData', confirmation),
    ),
  )
}

function attributeStatement(attributes: Subject['attributes']): Xml | undefined {
  const written = Object.entries(attributes).flatMap(([name, value]) => {
    const text = clean(value ?? '')
    if (text === '') return []
    return [
      element(
        'saml:Attribute',
        { Name: name, NameFormat: BASIC_NAME },
        element('saml:AttributeValue', {}, text),
      ),
    ]
  })
  return written.length === 0 ? undefined : element('saml:AttributeStatement', {}, ...written)
}

/** 160 random bits after `_`, because an XML id may not begin with a digit. */
function newId(): string {
  return `_${randomBytes(20).toString('hex')}`
}
