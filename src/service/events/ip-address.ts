import { isIP } from 'node:net'

/** The family of an address whose bits compare as numbers. `text` is the form in which it is kept and asked for. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly bits: bigint
  readonly text: string
}

/** Of IPv6 addresses that stand for IPv4 ones, `::ffff:0:0/96`, all but the last 32 bits. */
const MAPPED = 0xffffn

/**
 * An IPv4 or IPv6 address; one that is IPv4 mapped into IPv6 is IPv4, and the zone of a link-local one is left out.
 * `undefined` for any other text, such as what a client may put into `X-Forwarded-For`.
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

/** The eight groups of an IPv6 address that a URL has brought into its shortest form. */
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
