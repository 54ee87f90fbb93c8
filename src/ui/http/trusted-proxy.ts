import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { FastifyRequest } from 'fastify'
import { isThisMachine } from '../../base/this-machine.ts'
import { isSameToken } from './same-token.ts'

export interface TrustedProxy {
  /** Lower case. */
  readonly header: string
  readonly networks: readonly string[]
  /**
   * The secret that the proxy sends in {@link SECRET_HEADER}. Without it, no proxy on this machine is trusted: every
   * account of the machine can connect from its addresses.
   */
  readonly secret: (() => Promise<string>) | undefined
}

export interface Client {
  /** That of the connection or, of a trusted proxy, the last one that it names. */
  readonly address: string
  readonly user: string | undefined
}

const SECRET_HEADER = 'x-dirsyncd-proxy-secret'

/** @param wrongSecret called with the address of a connection that showed a wrong secret */
export function clientReader(
  proxy: TrustedProxy | undefined,
  wrongSecret: (address: string) => void,
): (request: FastifyRequest) => Promise<Client> {
  if (proxy === undefined) return async ({ ip }) => ({ address: ip, user: undefined })
  const { header, networks, secret } = proxy
  const trusted = blockList(networks)

  async function isProxy({ headers }: FastifyRequest, address: string): Promise<boolean> {
    if (isIP(address) === 0 || !trusted.check(address, familyOf(address))) return false
    if (secret === undefined) return !isOfThisMachine(address)
    const given = headers[SECRET_HEADER]
    if (typeof given !== 'string') return false
    const isSame = isSameToken(given, await secret())
    if (!isSame) wrongSecret(address)
    return isSame
  }

  return async (request) => {
    const { ip, headers } = request
    if (!(await isProxy(request, ip))) return { address: ip, user: undefined }
    const named = headers[header]
    const user = typeof named === 'string' ? named.trim() || undefined : undefined
    return { address: forwardedFor(headers['x-forwarded-for']) ?? ip, user }
  }
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = familyOf(address)
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return list
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

function isOfThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '').replace(/%.*$/, '')
  return isThisMachine(plain) || interfaceAddresses().includes(plain)
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address))
}

/** The trusted proxy added the last address; the others come from its client. */
function forwardedFor(header: string | readonly string[] | undefined): string | undefined {
  const last = String(header ?? '')
    .split(',')
    .at(-1)!
    .trim()
  return isIP(last) === 0 ? undefined : last
}
