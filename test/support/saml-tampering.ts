/**
 * One manipulation of a signed SAML response, with which an attacker tries to log in as `victim@example.org`. The
 * response and its assertion are both signed.
 */
export interface Tampering {
  readonly name: string
  readonly tamper: (xml: string) => string
}

export const VICTIM = 'victim@example.org'

const SIGNATURE = /<ds:Signature .*?<\/ds:Signature>/s
const ASSERTION = /<saml:Assertion .*<\/saml:Assertion>/s

export const TAMPERINGS: readonly Tampering[] = [
  { name: 'another name id', tamper: asVictim },
  { name: 'another attribute', tamper: (xml) => change(xml, /(<saml:AttributeValue>)[^<]*/, `$1${VICTIM}`) },
  { name: 'a later end', tamper: (xml) => xml.replaceAll(/NotOnOrAfter="\d{4}/g, 'NotOnOrAfter="2999') },
  { name: 'another name id and no signature at all', tamper: (xml) => asVictim(unsigned(unsigned(xml))) },
  { name: 'another name id and only the signature of the response', tamper: withoutInnerSignature },
  {
    name: 'another name id and only the signature of the assertion',
    tamper: (xml) => asVictim(unsigned(xml)),
  },
  { name: 'empty signatures', tamper: (xml) => asVictim(emptySignatures(xml)) },
  {
    name: 'a forged assertion before the signed one',
    tamper: (xml) => wrap(xml, (own, forged) => forged + own),
  },
  {
    name: 'a forged assertion behind the signed one',
    tamper: (xml) => wrap(xml, (own, forged) => own + forged),
  },
  {
    name: 'a forged assertion with the same id',
    tamper: (xml) => wrap(xml, (own, forged) => setId(forged, idOf(own)) + own),
  },
  { name: 'the signed assertion among the extensions', tamper: extend },
  { name: 'the signed assertion in the signature of a forged one', tamper: wrapInObject },
  {
    name: 'the signed assertion inside a forged one',
    tamper: (xml) =>
      wrap(xml, (own, forged) => forged.replace('</saml:Assertion>', `${own}</saml:Assertion>`)),
  },
  { name: 'the signed response in the signature of a forged one', tamper: wrapResponse },
  {
    name: 'a forged assertion beside the signed one, in the signed response',
    tamper: (xml) => change(xml, ASSERTION, forge(assertionOf(xml)) + assertionOf(xml)),
  },
]

function asVictim(xml: string): string {
  return change(xml, /(<saml:NameID [^>]*>)[^<]*/, `$1${VICTIM}`)
}

/** Removes the first signature in the text: that of the response, or else that of the assertion. */
function unsigned(xml: string): string {
  return change(xml, SIGNATURE, '')
}

function emptySignatures(xml: string): string {
  const empty = '<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>'
  return xml.replaceAll(/<ds:Signature .*?<\/ds:Signature>/gs, empty)
}

function withoutInnerSignature(xml: string): string {
  return change(xml, ASSERTION, asVictim(unsigned(assertionOf(xml))))
}

/** Removes the signature of the response, and replaces the assertion with the result of `make`. */
function wrap(xml: string, make: (own: string, forged: string) => string): string {
  const own = assertionOf(xml)
  return change(unsigned(xml), ASSERTION, make(own, forge(own)))
}

function extend(xml: string): string {
  const own = assertionOf(xml)
  const extensions = `<samlp:Extensions>${own}</samlp:Extensions><samlp:Status>`
  return change(
    wrap(xml, (_own, forged) => forged),
    /<samlp:Status>/,
    extensions,
  )
}

/** The forged assertion has the signature, whose `Object` element contains the signed assertion. */
function wrapInObject(xml: string): string {
  return wrap(xml, (own, forged) => {
    const signature = intoObject(SIGNATURE.exec(own)![0], unsigned(own))
    return change(forged, /<\/saml:Issuer>/, `</saml:Issuer>${signature}`)
  })
}

function wrapResponse(xml: string): string {
  const signature = intoObject(SIGNATURE.exec(xml)![0], unsigned(xml))
  const forged = setId(change(unsigned(xml), ASSERTION, forge(assertionOf(xml))), '_forged-response')
  return change(forged, /<\/saml:Issuer>/, `</saml:Issuer>${signature}`)
}

function intoObject(signature: string, signed: string): string {
  return change(signature, /<\/ds:Signature>$/, `<ds:Object>${signed}</ds:Object></ds:Signature>`)
}

/** An unsigned assertion for the victim. */
function forge(assertion: string): string {
  return setId(asVictim(unsigned(assertion)), '_forged-assertion')
}

function assertionOf(xml: string): string {
  return ASSERTION.exec(xml)![0]
}

function idOf(xml: string): string {
  return / ID="([^"]+)"/.exec(xml)![1]!
}

function setId(xml: string, id: string): string {
  return change(xml, / ID="[^"]+"/, ` ID="${id}"`)
}

/** Throws when nothing changes, because such a test would prove nothing. `$1` in the new text is the first group. */
function change(xml: string, pattern: RegExp, text: string): string {
  const changed = xml.replace(pattern, (_match, group: unknown) => {
    return text.replace('$1', () => (typeof group === 'string' ? group : ''))
  })
  if (changed === xml) throw new Error(`the response has nothing like ${pattern.source}`)
  return changed
}
