import { trustAuthoritiesOfMachine } from '../base/process/authorities.ts'
import type { SyncConfig } from './config.ts'

/** For syncs without a CA, TLS trusts the CAs of this machine. */
export function trustThisMachine(syncs: readonly SyncConfig[]): void {
  if (syncs.some(needsAuthorities)) trustAuthoritiesOfMachine()
}

function needsAuthorities({ source, directory }: SyncConfig): boolean {
  const { baseUrl, ca, proxy = '' } = directory
  if (ca === undefined && baseUrl.startsWith('https:')) return true
  if (proxy.startsWith('https:')) return true
  if (source.type !== 'ldap' || source.options.tls.ca !== undefined) return false
  return source.options.tls.startTls || [source.options.url].flat().some((url) => /^ldaps:/i.test(url))
}
