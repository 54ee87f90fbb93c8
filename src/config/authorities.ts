import { trustAuthoritiesOfMachine } from '../base/process/authorities.ts'
import type { SyncConfig } from './config.ts'

/** Has TLS trust the authorities of this machine, for syncs that configure none. */
export function trustThisMachine(syncs: readonly SyncConfig[]): void {
  if (syncs.some(needsAuthorities)) trustAuthoritiesOfMachine()
}

/** Whether something of the sync is encrypted and no CA is configured for it. */
function needsAuthorities({ source, directory }: SyncConfig): boolean {
  const { baseUrl, ca, proxy = '' } = directory
  if (ca === undefined && baseUrl.startsWith('https:')) return true
  if (proxy.startsWith('https:')) return true
  if (source.type !== 'ldap' || source.options.tls.ca !== undefined) return false
  return source.options.tls.startTls || [source.options.url].flat().some((url) => /^ldaps:/i.test(url))
}
