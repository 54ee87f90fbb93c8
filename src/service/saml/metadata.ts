import { NAME_ID_FORMATS, NAMESPACES, REDIRECT_BINDING } from './names.ts'
import { certificateBody } from './signing-key.ts'
import { element, type Xml } from './xml.ts'

export interface IdentityProvider {
  readonly entityId: string
  /** PEM; the first one signs, the others are about to sign or have signed. */
  readonly certificates: readonly string[]
}

/**
 * For setting up a service provider. The schema requires the `location` of a single sign-on service, although no
 * authentication requests are answered, because every login begins here. If `location` is empty, the entity id takes
 * its place.
 */
export function metadataOf({ entityId, certificates }: IdentityProvider, location: string): string {
  const descriptor = element(
    'md:IDPSSODescriptor',
    { WantAuthnRequestsSigned: 'false', protocolSupportEnumeration: NAMESPACES.protocol },
    ...certificates.map(signingKey),
    element('md:NameIDFormat', {}, NAME_ID_FORMATS.email),
    element('md:NameIDFormat', {}, NAME_ID_FORMATS.login),
    element('md:SingleSignOnService', {
      Binding: REDIRECT_BINDING,
      Location: location === '' ? entityId : location,
    }),
  )
  const entity = element(
    'md:EntityDescriptor',
    { 'xmlns:md': NAMESPACES.metadata, 'xmlns:ds': NAMESPACES.signature, entityID: entityId },
    descriptor,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${entity.xml}\n`
}

function signingKey(certificate: string): Xml {
  const body = element('ds:X509Certificate', {}, certificateBody(certificate))
  const info = element('ds:KeyInfo', {}, element('ds:X509Data', {}, body))
  return element('md:KeyDescriptor', { use: 'signing' }, info)
}
