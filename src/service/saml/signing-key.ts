export interface SigningKey {
  /** PEM. */
  readonly certificate: string
  /** PEM, PKCS #8. */
  readonly privateKey: string
}

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 3072,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const

/** Service providers store the certificate. */
const VALID_YEARS = 10

/** Clocks differ, and a service provider refuses a certificate that is not valid yet. */
const BACKDATE_MS = 86_400_000

/** Takes up to a second. The certificate is self-signed. */
export async function createKeyPair(organizationId: number, now: Date): Promise<SigningKey> {
  const keys = await crypto.subtle.generateKey(RSA, true, ['sign', 'verify'])
  const x509 = await loadX509()
  const notAfter = new Date(now)
  notAfter.setUTCFullYear(now.getUTCFullYear() + VALID_YEARS)
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ O: ['Access management'] }, { CN: [`Organization ${organizationId}`] }],
    notBefore: new Date(now.getTime() - BACKDATE_MS),
    notAfter,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    ],
  })
  const privateKey = toPem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  return { certificate: `${certificate.toString('pem')}\n`, privateKey }
}

/** Loading takes 150 ms and 20 MB and is needed once per organization; the package's decorators need the polyfill. */
async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

function toPem(label: string, bytes: ArrayBuffer): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** Base64 without the PEM lines, as in XML. */
export function certificateBody(pem: string): string {
  return pem.replaceAll(/-----(BEGIN|END) CERTIFICATE-----|\s/g, '')
}
