/** SAML 2.0 and XML Signature. */
export const NAMESPACES = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
} as const

/** A login is unspecified: only the service provider knows what it means. */
export const NAME_ID_FORMATS = {
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  login: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
} as const

export const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success'
export const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
export const BASIC_NAME = 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic'
export const REDIRECT_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'

/** The service sees only a token, not how its contact signed in. */
export const UNSPECIFIED_LOGIN = 'urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified'

export const SIGNING = {
  signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
  canonical: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  enveloped: 'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
} as const
