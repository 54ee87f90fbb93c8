import { isIP } from 'node:net'

/** `bits` compare as numbers within a family. `text` is the form in the store and in queries. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly bits: bigint
  readonly text: string
}

/** The first 96 bits of an IPv4-mapped IPv6 address, `::ffff:0:0/96`. */
const MAPPED = 0xffffn

/**
 * An IPv4-mapped IPv6 address becomes IPv4, and the zone of a link-local one is dropped. `undefined` for text that is
 * no address.
 */
export function parseIp(text: string): IpAddress | undefined {
  const family = isIP(text)
  if (family === 0) return undefined
  if (family === 4) return { family, bits: joinBits(text.split('.').map(Number), 8n), text }
  const address = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  const bits = joinBits(groupsOf(address), 16n)
  if (bits >> 32n === MAPPED) return mappedIp(bits & 0xffff_ffffn)
  return { family: 6, bits, text: address }
}

/** In `X-Forwarded-For`, some proxies add the port, and brackets to IPv6. */
export function parseForwardedIp(text: string): IpAddress | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return parseIp(inBrackets ?? beforePort ?? text)
}

/** The eight groups of an IPv6 address in the shortest form, which `URL` makes. */
function groupsOf(address: string): number[] {
  const [head = [], tail = []] = address
    .split('::')
    .map((part) => part.split(':').flatMap((group) => (group === '' ? [] : [Number.parseInt(group, 16)])))
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail]
}

function joinBits(parts: readonly number[], width: bigint): bigint {
  let bits = 0n
  for (const part of parts) bits = (bits << width) | BigInt(part)
  return bits
}

function mappedIp(bits: bigint): IpAddress {
  const octets = [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn)
  return { family: 4, bits, text: octets.join('.') }
}
