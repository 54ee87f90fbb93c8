import { X509Certificate } from 'node:crypto'
import { networkReason, sentence, systemCode } from '../../../base/errors.ts'

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

const OTHER_HOST = 'ERR_TLS_CERT_ALTNAME_INVALID'

/** In words; `ca` are the PEM texts of `tls.ca`, if any. */
export function connectProblem(error: unknown, ca?: readonly string[]): string {
  const code = systemCode(error) ?? ''
  if (UNTRUSTED.has(code)) return `its certificate is not trusted; ${trustRemedy(ca)} (${sentence(error)})`
  const reason = networkReason(error) ?? sentence(error)
  // The name of a domain controller is often known in the domain only.
  const isNamed = code === OTHER_HOST && reason.includes('such a name')
  return isNamed ? `${reason}, with its address in /etc/hosts where DNS does not know it` : reason
}

function trustRemedy(ca: readonly string[] | undefined): string {
  if (ca === undefined) return 'give its CA in tls.ca'
  const ends = ca.map((pem) => new X509Certificate(pem).validToDate.getTime())
  const last = Math.max(...ends)
  if (last < Date.now()) return `the CA in tls.ca expired ${new Date(last).toISOString().slice(0, 10)}`
  return 'it does not come from the CA in tls.ca'
}

/** The certificate may be right, but no trusted CA issued it. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.has(systemCode(error) ?? '')
}

/** A server answered and could not prove its identity: no network problem. */
export function isCertificateProblem(error: unknown): boolean {
  const code = systemCode(error) ?? ''
  return UNTRUSTED.has(code) || code === OTHER_HOST || /^(CERT_|CRL_|INVALID_|HOSTNAME_MISMATCH)/.test(code)
}

const ALERTS_FOR_OUR_CERTIFICATE =
  /alert (certificate required|bad certificate|certificate expired|certificate revoked|certificate unknown|unknown ca|handshake failure)/

/** What a server that ended TLS requires of the client's certificate; `undefined` for other reasons. */
export function certificateDemand(error: unknown): string | undefined {
  const alert = ALERTS_FOR_OUR_CERTIFICATE.exec(sentence(error))?.[1]
  if (alert === undefined) return undefined
  if (alert === 'certificate required')
    return 'it wants a client certificate; give it in tls.certificate and tls.key'
  return `it does not take the client certificate, or wants one (tls.certificate, tls.key): ${alert}`
}
