import { isIP } from 'node:net'

/** Whether what is sent to this host stays on this machine. A name below `localhost` may be anybody's. */
export function isThisMachine(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return isIP(name) === 4 ? name.startsWith('127.') : name === '::1' || name === 'localhost'
}
