import type { FastifyRequest } from 'fastify'
import { type IpAddress, parseForwardedIp } from '../events/ip-address.ts'

/**
 * The address of the connection or, behind trusted proxies, the one that they name. Where that is no address, that of
 * the proxy.
 */
export function clientIp({ ip, ips }: Pick<FastifyRequest, 'ip' | 'ips'>): IpAddress | undefined {
  return (ips ?? [ip]).map(parseForwardedIp).findLast((each) => each !== undefined)
}

/**
 * One key for all addresses of a client: an IPv4 address itself, and the first 64 bits of an IPv6 address, because
 * every customer of a provider gets at least that many.
 */
export function clientKey(ip: IpAddress | undefined): string {
  if (ip === undefined) return ''
  return ip.family === 4 ? ip.text : `${ip.bits >> 64n}`
}
