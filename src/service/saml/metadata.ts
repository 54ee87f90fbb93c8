import { certificateBody, type IdentityProvider } from './identity-provider.ts'
import { NAME_ID_FORMATS, NAMESPACES, REDIRECT_BINDING } from './names.ts'
import { element } from './xml.ts'

/**
 * The metadata of the identity provider, for setting up a service provider. The schema requires the `location` of a
 * single sign-on service, but every login begins here, and authentication requests are not answered.
 */
export function metadataOf({ issuer, certificate }: IdentityProvider, location: string): string {
  const signingKey = element(
    'md:KeyDescriptor',
    { use: 'signing' },
    element(
      'ds:KeyInfo',
      {},
      element('ds:X509Data', {}, element('ds:X509Certificate', {}, certificateBody(certificate))),
    ),
  )
  const descriptor = element(
    'md:IDPSSODescriptor',
    { WantAuthnRequestsSigned: 'false', protocolSupportEnumeration: NAMESPACES.protocol },
    signingKey,
    element('md:NameIDFormat', {}, NAME_ID_FORMATS.email),
    element('md:NameIDFormat', {}, NAME_ID_FORMATS.login),
    element('md:SingleSignOnService', { Binding: REDIRECT_BINDING, Location: location }),
  )
  const entity = element(
    'md:EntityDescriptor',
    { 'xmlns:md': NAMESPACES.metadata, 'xmlns:ds': NAMESPACES.signature, entityID: issuer },
    descriptor,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${entity.xml}\n`
}
