import { type IpAddress, parseForwardedIp, parseIp } from '../events/ip-address.ts'

export type IsProxy = (address: string | undefined) => boolean

/** Networks such as `10.0.0.0/8`. IPv4 in IPv6 form, `::ffff:10.0.0.0/104`, is IPv4. */
export function trustProxies(networks: readonly string[]): IsProxy {
  const trusted = networks.map(parseNetwork)
  return (address) => {
    const ip = parseForwardedIp(address ?? '')
    return ip !== undefined && trusted.some((network) => isIn(network, ip))
  }
}

interface Network {
  readonly family: 4 | 6
  readonly freeBits: bigint
  readonly firstBits: bigint
}

function parseNetwork(text: string): Network {
  const [address = '', prefix] = text.split('/')
  const ip = parseIp(address)
  if (ip === undefined) throw new Error(`The trusted proxy ${text} is neither an address nor a network.`)
  const { family, bits } = ip
  // The prefix counts the bits of the address as written.
  const freeBits = prefix === undefined ? 0n : BigInt((address.includes(':') ? 128 : 32) - Number(prefix))
  return { family, freeBits, firstBits: bits >> freeBits }
}

function isIn({ family, freeBits, firstBits }: Network, ip: IpAddress): boolean {
  return ip.family === family && ip.bits >> freeBits === firstBits
}
