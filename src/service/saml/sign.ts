import { SignedXml } from 'xml-crypto'
import { SIGNING } from './names.ts'
import type { SigningKey } from './signing-key.ts'

/** `path` is an absolute XPath. The signature follows the issuer, where the SAML schema requires it. */
export function sign(xml: string, path: string, { certificate, privateKey }: SigningKey): string {
  const signature = new SignedXml({
    privateKey,
    publicCert: certificate,
    signatureAlgorithm: SIGNING.signature,
    canonicalizationAlgorithm: SIGNING.canonical,
  })
  signature.addReference({
    xpath: path,
    transforms: [SIGNING.enveloped, SIGNING.canonical],
    digestAlgorithm: SIGNING.digest,
  })
  signature.computeSignature(xml, {
    prefix: 'ds',
    location: { reference: `${path}/*[local-name(.)='Issuer']`, action: 'after' },
  })
  return signature.getSignedXml()
}
