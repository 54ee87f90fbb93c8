import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PreferredServer } from '../../src/source/source.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { parseEndpoints } from '../../src/source/ldap/connection/endpoint.ts'
import { createServers, type Servers } from '../../src/source/ldap/connection/servers.ts'
import type { LdapSourceOptions } from '../../src/source/ldap/options.ts'
import { type FakeAnswer, type FakeLdap, startFakeLdap } from '../support/fake-ldap.ts'
import { freePort } from '../support/server-process.ts'
import { type Slapd, startSlapd } from '../support/slapd.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'

/** Which of the servers behind one name, or several URLs, is asked. The servers are loopback addresses. */
const NEVER = new AbortController().signal
const A = '127.0.0.1'
const B = '127.0.0.2'
const C = '127.0.0.3'

const stack = new AsyncDisposableStack()
/** Addresses whose server says that it is not able to answer. */
const out = new Set<string>()
let port: number
let url: string

beforeAll(async () => {
  port = await freePort()
  url = `ldap://dc.localhost:${port}`
  for (const host of [A, B]) stack.use(await startAt(host))
})

afterAll(() => stack.disposeAsync())

beforeEach(() => out.clear())

function startAt(host: string): Promise<FakeLdap> {
  return startFakeLdap((): FakeAnswer => (out.has(host) ? { code: 52 } : {}), { host, port })
}

const names: Readonly<Record<string, readonly string[]>> = {
  'dc.localhost': [A, B],
  'three.localhost': [C, A, B],
  'both.localhost': ['::1', A],
}

async function lookUp(host: string): Promise<readonly string[]> {
  const found = names[host]
  if (found === undefined) throw Object.assign(new Error(host), { code: 'ENOTFOUND' })
  return found
}

function servers(urls: string | readonly string[] = url, more: Partial<LdapSourceOptions> = {}): Servers {
  const options = {
    url: urls,
    tls: { startTls: false },
    timeouts: { connectMs: 60_000, answerMs: 60_000 },
    ...more,
  }
  return createServers(parseEndpoints(options), options, { log: silentLog(), lookUp })
}

async function addressOf(from: Servers, preferred?: PreferredServer): Promise<string> {
  using connection = await from.open(NEVER, { preferred })
  return connection.address
}

describe('a name with several addresses', () => {
  test('is tried in their order, and the address of the last good read goes first', async () => {
    expect(await addressOf(servers())).toBe(A)
    expect(await addressOf(servers(), { url, address: B })).toBe(B)
    expect(await addressOf(servers(), { url, address: A })).toBe(A)
  })

  test('goes on where nobody listens at one of them, or that one is not able to answer', async () => {
    expect(await addressOf(servers(`ldap://three.localhost:${port}`))).toBe(A)
    out.add(A)
    expect(await addressOf(servers())).toBe(B)
    out.add(B).delete(A)
    expect(await addressOf(servers(), { url, address: B })).toBe(A)
  })

  test('goes on with the others where the address of the last good read is no longer one of it', async () => {
    expect(await addressOf(servers(), { url, address: C })).toBe(A)
  })

  test('the second look stays with the very address that was read', async () => {
    const one = servers()
    expect(await addressOf(one, { url, address: B })).toBe(B)
    using again = await one.openAgain(NEVER)
    expect(again.address).toBe(B)
  })

  test('the sentence names each address with its reason when none can be used', async () => {
    out.add(A).add(B)
    const opening = servers().open(NEVER)
    await expect(opening).rejects.toMatchObject({ code: 'source-unreachable' })
    await expect(opening).rejects.toThrow(
      /^none of the 2 servers can be used: at 127\.0\.0\.1: ldap:.* \(result 52\) .*; at 127\.0\.0\.2: ldap:/,
    )
  })
})

const urls = () => [`ldap://${A}:${port}`, url, `ldap://unknown.localhost:${port}`]

describe('several URLs', () => {
  test('the URL and the address of the last good read go first, then the others of that URL', async () => {
    expect(await addressOf(servers(urls()), { url, address: B })).toBe(B)
    out.add(B)
    using connection = await servers(urls()).open(NEVER, { preferred: { url, address: B } })
    expect([connection.endpoint.url, connection.address]).toEqual([url, A])
  })

  test('a URL that is no longer configured is not asked', async () => {
    expect(await addressOf(servers(urls()), { url: 'ldap://old.localhost:389', address: B })).toBe(A)
  })

  test.each<[string, () => string | string[], number]>([
    ['one address', () => `ldap://${A}:${port}`, 1],
    ['a name with two', () => url, 2],
    ['an IPv4 and an IPv6 address of one host', () => `ldap://both.localhost:${port}`, 1],
    ['a name, one of its addresses, and a name that is unknown', urls, 3],
    ['two ports of one address', () => [`ldap://${A}:${port}`, 'ldap://127.0.0.1:1'], 2],
  ])('%s count as that many servers', async (_, wanted, count) => {
    using connection = await servers(wanted()).open(NEVER, {
      preferred: { url: `ldap://${A}:${port}`, address: A },
    })
    expect(connection.addresses).toBe(count)
  })
})

const never = () => new Promise<never>(() => undefined)

test('a name that nobody resolves in time is given up on', async () => {
  const options = { url, tls: { startTls: false }, timeouts: { connectMs: 100, answerMs: 100 } }
  const opening = createServers(parseEndpoints(options), options, { log: silentLog(), lookUp: never }).open(
    NEVER,
  )
  await expect(opening).rejects.toThrow('its host name was not resolved within 0.1 s (timeouts.connect)')
  const controller = new AbortController()
  const stopped = createServers(parseEndpoints(options), options, { log: silentLog(), lookUp: never }).open(
    controller.signal,
  )
  controller.abort()
  await expect(stopped).rejects.toMatchObject({ code: 'interrupted' })
})

describe('TLS', () => {
  let slapd: Slapd

  beforeAll(async () => {
    slapd = stack.use(await startSlapd())
  })

  test.each([
    ['ldaps', false],
    ['StartTLS', true],
  ])('%s checks the name of the URL, whatever the address', async (_, startTls) => {
    const target = { host: A, port: Number(new URL(startTls ? slapd.url : slapd.ldapsUrl).port) }
    await using relay = await startTcpRelay(target, { host: B, port: 0 }, (client, upstream) => {
      client.pipe(upstream).pipe(client)
    })
    const open = (host: string) => {
      const options = {
        url: `${startTls ? 'ldap' : 'ldaps'}://${host}:${relay.port}`,
        tls: { ca: slapd.ca, startTls },
        timeouts: { connectMs: 60_000, answerMs: 60_000 },
      }
      return createServers(parseEndpoints(options), options, {
        log: silentLog(),
        lookUp: async () => [B, A],
      }).open(NEVER)
    }
    using connection = await open('localhost')
    expect(connection.address).toBe(B)
    await expect(open('other.localhost')).rejects.toThrow('its certificate is for another host')
  })
})

test('a domain controller that has not taken over everything yet is passed over', async () => {
  const root = { dn: '', attributes: { isSynchronized: ['FALSE'] } }
  await using fresh = await startFakeLdap(() => ({ entries: [root] }))
  expect(await addressOf(servers([fresh.url, `ldap://${B}:${port}`]))).toBe(B)
  await expect(servers(fresh.url).open(NEVER)).rejects.toThrow('isSynchronized: FALSE')
})
