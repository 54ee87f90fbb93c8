import { parseIp } from '../events/ip-address.ts'

/**
 * Stands for all addresses that one client may have: an IPv4 address itself, and of an IPv6 address the first 64 bits,
 * because every customer of a provider gets at least that many. Empty for a text that is not an address.
 */
export function clientKey(address: string): string {
  const ip = parseIp(address)
  if (ip === undefined) return ''
  return ip.family === 4 ? ip.text : `${ip.bits >> 64n}`
}
