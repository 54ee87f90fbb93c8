import { isIP } from 'node:net'

/** A name below `localhost` may be any machine: many resolvers ask the network for it, whatever RFC 6761 says. */
export function isThisMachine(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  if (isIP(name) === 4) return name.startsWith('127.')
  return name === '::1' || name === 'localhost'
}
