import { certificateBody, type IdentityProvider } from './identity-provider.ts'
import { NAME_ID_FORMATS, NAMESPACES, REDIRECT_BINDING } from './names.ts'
import { element } from './xml.ts'

/**
 * The metadata of the identity provider, which a service provider is set up with. A login always begins here and no
 * authentication request is answered; `location` is there because the schema wants a single sign-on service.
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
