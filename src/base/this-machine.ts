import { isIP } from 'node:net'

/**
 * Whether what is sent to this host stays on this machine. A name below `localhost` may be anybody's: many resolvers
 * ask the network for it, whatever RFC 6761 says.
 */
export function isThisMachine(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  if (isIP(name) === 4) return name.startsWith('127.')
  return name === '::1' || name === 'localhost'
}
