export const BEGIN_CERTIFICATE = '-----BEGIN CERTIFICATE-----'

const CERTIFICATE = new RegExp(`${BEGIN_CERTIFICATE}[^-]+-----END CERTIFICATE-----`, 'g')

/** Each as a PEM text. */
export function certificatesIn(pem: string): string[] {
  return pem.match(CERTIFICATE) ?? []
}
