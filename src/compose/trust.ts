import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { SyncConfig } from '../config/config.ts'

let isTrusted = false

/**
 * Has TLS trust the certificate authorities that an administrator installed on this machine, besides Node's own. That
 * takes a tenth of a second, so it is done once, and only for syncs that need it.
 */
export function trustThisMachine(syncs: readonly SyncConfig[]): void {
  if (isTrusted || !syncs.some(needsAuthorities)) return
  isTrusted = true
  setDefaultCACertificates([...getCACertificates('default'), ...getCACertificates('system')])
}

/** Whether something of the sync is encrypted and no CA is configured for it. */
function needsAuthorities({ source, directory }: SyncConfig): boolean {
  const { baseUrl, ca, proxy = '' } = directory
  if (ca === undefined && baseUrl.startsWith('https:')) return true
  if (proxy.startsWith('https:')) return true
  if (source.type !== 'ldap' || source.options.tls.ca !== undefined) return false
  return source.options.tls.startTls || [source.options.url].flat().some((url) => /^ldaps:/i.test(url))
}
