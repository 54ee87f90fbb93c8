/** The line with which each certificate of a PEM text begins. */
export const BEGIN_CERTIFICATE = '-----BEGIN CERTIFICATE-----'

const CERTIFICATE = new RegExp(`${BEGIN_CERTIFICATE}[^-]+-----END CERTIFICATE-----`, 'g')

/** The whole certificates of a PEM text, each as a PEM text. */
export function certificatesIn(pem: string): string[] {
  return pem.match(CERTIFICATE) ?? []
}
