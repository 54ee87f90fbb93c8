import { getCACertificates, setDefaultCACertificates } from 'node:tls'

let isTrusted = false

/**
 * Adds the machine's certificate authorities to Node's own. That takes a tenth of a second, so it is done once, and
 * only where it is needed.
 */
export function trustAuthoritiesOfMachine(): void {
  if (isTrusted) return
  isTrusted = true
  setDefaultCACertificates([...getCACertificates('default'), ...getCACertificates('system')])
}
