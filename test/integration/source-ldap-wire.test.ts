import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { loadCredentials } from '../../src/source/ldap/connection/bind.ts'
import { connectPlain } from '../../src/source/ldap/connection/connect.ts'
import { openConnection } from '../../src/source/ldap/connection/connection.ts'
import { parseEndpoints } from '../../src/source/ldap/connection/endpoint.ts'
import { ANYTHING, parseFilter } from '../../src/source/ldap/filter.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { LdapSourceOptions } from '../../src/source/ldap/options.ts'
import { searchAll, searchSome } from '../../src/source/ldap/search.ts'
import {
  decodeAll,
  ENUMERATED,
  encode,
  encodeInteger,
  integerOf,
  messageLength,
  OCTETS,
  SEQUENCE,
} from '../support/ber.ts'
import { type FakeEntry, startFakeLdap } from '../support/fake-ldap.ts'
import { PATIENCE } from '../support/patience.ts'
import { useTimeOfSilence } from '../support/silence.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'

/** What a server can do to one connection, byte by byte. */

const NEVER = new AbortController().signal

function options(url: string, more: Partial<LdapSourceOptions> = {}): LdapSourceOptions {
  return {
    url,
    tls: { startTls: false },
    vendor: 'openldap',
    pageSize: 50,
    timeouts: { connectMs: 60_000, answerMs: 60_000 },
    users: { base: BASE, scope: 'sub', map: { external_id: 'uid' } },
    ...more,
  }
}

const READER = { dn: 'cn=reader', password: async () => 'secret' }

/** A request as it came. */
interface Request {
  readonly id: number
  readonly operation: number
  readonly socket: Socket
}

const BIND = 0x60
const SEARCH = 0x63
const EXTENDED = 0x77

interface Listening extends AsyncDisposable {
  readonly url: string
}

async function listen(onConnection: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>()
  // Each write arrives at once, instead of with the next one.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined))
    onConnection(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `ldap://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Hides its root DSE (result 50); everything else is the business of the test. */
function startScript(onRequest: (request: Request) => unknown): Promise<Listening> {
  return listen((socket) => {
    let held = Buffer.alloc(0)
    let searches = 0
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      for (let length = messageLength(held); length !== undefined; length = messageLength(held)) {
        const [message] = decodeAll(held.subarray(0, length))
        held = held.subarray(length)
        const [id, operation] = decodeAll(message?.content ?? Buffer.alloc(0))
        if (id === undefined || operation === undefined) throw new Error('a broken request')
        const request = { id: integerOf(id), operation: operation.tag, socket }
        if (request.operation === SEARCH && (searches += 1) === 1) socket.write(result(request, 50))
        else onRequest(request)
      }
    })
  })
}

function result({ id, operation }: Pick<Request, 'id' | 'operation'>, code: number): Buffer {
  const parts = [encodeInteger(code, ENUMERATED), encode(OCTETS, ''), encode(OCTETS, '')]
  // The tag of an answer follows that of its request, but for a search, whose entries have the next one.
  const tag = operation === SEARCH ? operation + 2 : operation + 1
  return encode(SEQUENCE, encodeInteger(id), encode(tag, ...parts))
}

function entry(id: number, uid: string, value = uid): Buffer {
  const values = encode(0x31, encode(OCTETS, value))
  const attributes = encode(SEQUENCE, encode(SEQUENCE, encode(OCTETS, 'uid'), values))
  return encode(SEQUENCE, encodeInteger(id), encode(0x64, encode(OCTETS, `uid=${uid},${BASE}`), attributes))
}

describe('a loop that was blocked for longer than the server may be silent', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('reads the answers that came meanwhile', async () => {
    await using server = await startScript((request) => {
      request.socket.write(Buffer.concat([entry(request.id, 'a'), result(request, 0)]))
      // In the loop's next turn, because in this one nothing more is read.
      setImmediate(() => vi.advanceTimersByTime(60_000))
    })
    const snapshot = await createLdapSource(options(server.url), silentLog()).read(NEVER)
    expect(snapshot.users.size).toBe(1)
  })

  test('takes the connection that was made meanwhile', async () => {
    // Time-outs of abort signals cannot be faked.
    vi.useRealTimers()
    await using server = await listen(() => undefined)
    const [endpoint] = parseEndpoints(options(server.url))
    // Behind the phase of the loop in which connections are seen, so that the timers come first.
    await new Promise<void>((resolve) => setImmediate(resolve))
    const connecting = connectPlain(endpoint, 10, NEVER)
    await new Promise<void>((resolve) => process.nextTick(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30)
    ;(await connecting).destroy()
  })
})

/** Lets this time pass when what was sent has been read. */
async function passWhenRead(ms: number): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await new Promise<void>((resolve) => setImmediate(resolve))
  // The connection may be given up, and the test over.
  if (vi.isFakeTimers()) vi.advanceTimersByTime(ms)
}

describe('a server', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('that is slow and never silent is read, however long a page takes', async () => {
    await using server = await startScript(async (request) => {
      for (let index = 0; index < 16; index += 1) {
        request.socket.write(entry(request.id, `u${index}`))
        await passWhenRead(40_000)
      }
      request.socket.write(result(request, 0))
    })
    const snapshot = await createLdapSource(options(server.url), silentLog()).read(NEVER)
    expect(snapshot.users.size).toBe(16)
  })

  test('that is never silent and does not come to an end is left after the time of a whole read', async () => {
    await using server = await startScript(async (request) => {
      for (let index = 0; index < 120 && !request.socket.destroyed; index += 1) {
        request.socket.write(entry(request.id, `u${index}`))
        await passWhenRead(40_000)
      }
      request.socket.write(result(request, 0))
    })
    const timeouts = { connectMs: 60_000, answerMs: 60_000, readMs: 700_000 }
    const reading = createLdapSource(options(server.url, { timeouts }), silentLog()).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow(
      /: the whole read took longer than 700 s while reading "dc=example,dc=org" .*\(timeouts\.read\)$/,
    )
  })

  test('whose answer to a bind drips does not stretch its time', async () => {
    await using server = await startScript(async ({ socket }) => {
      socket.write(Buffer.from([SEQUENCE, 0x82, 0x10, 0x00]))
      for (let bytes = 0; bytes < 100 && !socket.destroyed; bytes += 1) {
        socket.write('.')
        await passWhenRead(10_000)
      }
      socket.end()
    })
    const timeouts = { connectMs: 60_000, bindMs: 50_000, answerMs: 60_000 }
    const reader = createLdapSource(options(server.url, { bind: READER, timeouts }), silentLog())
    await expect(reader.read(NEVER)).rejects.toMatchObject({ code: 'source-unreachable' })
    await expect(reader.read(NEVER)).rejects.toThrow(
      'no whole answer arrived for 50 s while binding as "cn=reader" (timeouts.bind)',
    )
  })

  test.each([
    ['asks for StartTLS', { startTls: true }, 'source-unreachable', 'asking for StartTLS'],
    ['reads', { startTls: false }, 'source-incomplete', 'reading "dc=example,dc=org"'],
  ])('whose lengths lead nowhere does not hold up who %s', async (_, tls, code, doing) => {
    const hostile = Buffer.from('3012020101780d0a0100040004008a84fffffffa', 'hex')
    await using server = await startScript(({ socket }) => socket.write(hostile))
    const reading = createLdapSource(options(server.url, { tls }), silentLog()).read(NEVER)
    await expect(reading).rejects.toMatchObject({ name: 'DirsyncdError', code })
    await expect(reading).rejects.toThrow(
      `${server.url}: a broken message arrived (an element is cut off) while ${doing}`,
    )
  })

  test('that answers another request than was made is not believed', async () => {
    await using server = await startScript((request) =>
      request.socket.write(Buffer.concat([entry(request.id + 1, 'a'), result(request, 0)])),
    )
    const reading = createLdapSource(options(server.url), silentLog()).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow('an answer to nothing arrived while reading')
  })

  test('that ends a search with the answer to something else is not believed', async () => {
    await using server = await startScript((request) =>
      request.socket.write(
        Buffer.concat([entry(request.id, 'a'), result({ id: request.id, operation: EXTENDED }, 0)]),
      ),
    )
    const reading = createLdapSource(options(server.url), silentLog()).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow('the server gave an answer to something else')
  })

  test('that answers a bind with the end of a search has not let the reader in', async () => {
    await using server = await startScript((request) => {
      if (request.operation === BIND) request.socket.write(result({ id: request.id, operation: SEARCH }, 0))
      else request.socket.write(result(request, 0))
    })
    const reader = createLdapSource(options(server.url, { bind: READER }), silentLog())
    await expect(reader.read(NEVER)).rejects.toMatchObject({
      code: 'source-refused',
      message: expect.stringContaining('refused the bind as "cn=reader"'),
    })
  })

  test.each<[string, (request: Request) => Buffer, string]>([
    ['half a message', ({ id }) => entry(id, 'a').subarray(0, 9), 'half a message arrived before TLS began'],
    ['a message', ({ id }) => entry(id, 'a'), 'an answer to nothing arrived'],
    [
      'the answer to the bind',
      ({ id }) => result({ id: id + 1, operation: BIND }, 0),
      'an answer to nothing arrived',
    ],
  ])('that sends %s in the clear before TLS begins is left', async (_, more, words) => {
    await using server = await startScript((request) => {
      if (request.operation !== EXTENDED) return
      request.socket.write(Buffer.concat([result(request, 0), more(request)]))
    })
    const over = { tls: { startTls: true }, bind: READER }
    const reading = createLdapSource(options(server.url, over), silentLog()).read(NEVER)
    await expect(reading).rejects.toMatchObject({ name: 'DirsyncdError', code: 'source-unreachable' })
    await expect(reading).rejects.toThrow(`${server.url}: ${words} while asking for StartTLS`)
  })
})

test('an entry that is broken is lost with all of its server, whose page had ended well', async () => {
  await using server = await startScript((request) => {
    const broken = encode(SEQUENCE, encodeInteger(request.id), encode(0x64, encode(OCTETS, 'uid=b')))
    request.socket.write(Buffer.concat([entry(request.id, 'a'), broken, result(request, 0)]))
  })
  const reading = createLdapSource(options(server.url), silentLog()).read(NEVER)
  await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
  await expect(reading).rejects.toThrow(
    `${server.url}: a broken message arrived (there is no element of type 0x30) while reading "${BASE}"`,
  )
  await using other = await startScript((request) =>
    request.socket.write(Buffer.concat([entry(request.id, 'other'), result(request, 0)])),
  )
  const both = { ...options(server.url), url: [server.url, other.url] }
  expect([...(await createLdapSource(both, silentLog()).read(NEVER)).users.keys()]).toEqual(['other'])
})

test('a page of large entries is not kept until it ends', async () => {
  const { promise: handedOn, resolve } = Promise.withResolvers<void>()
  const dns: string[] = []
  let beforeEnd: readonly string[] = []
  await using server = await startScript(async (request) => {
    for (const uid of ['a', 'b', 'c']) request.socket.write(entry(request.id, uid, uid.repeat(600_000)))
    await Promise.race([handedOn, delay(PATIENCE.timeout, undefined, { ref: false })])
    beforeEnd = [...dns]
    request.socket.write(result(request, 0))
  })
  const from = options(server.url)
  const [endpoint] = parseEndpoints(from)
  using connection = await openConnection(endpoint, from, await loadCredentials(from), NEVER, {
    log: silentLog(),
  })
  const search = { base: BASE, scope: 'base', ...ANYTHING, attributes: [], pageSize: 50 } as const
  await searchAll(connection, search, ({ dn }) => {
    dns.push(dn)
    if (dns.length === 2) resolve()
  })
  expect(dns).toEqual(['a', 'b', 'c'].map((uid) => `uid=${uid},${BASE}`))
  expect(beforeEnd).toEqual(dns.slice(0, 2))
})

test('a connection that was lost stays so, and says so at once', async () => {
  await using server = await startScript(({ socket }) => socket.destroy())
  const timeouts = { connectMs: 60_000, answerMs: 60_000 }
  const from = options(server.url, { timeouts })
  const [endpoint] = parseEndpoints(from)
  using connection = await openConnection(endpoint, from, await loadCredentials(from), NEVER, {
    log: silentLog(),
  })
  const search = { base: BASE, scope: 'base', attributes: [], pageSize: undefined } as const
  for (const text of ['(uid=a)', '(uid=b)', '(uid=c)']) {
    const filter = parseFilter(text, 'filter')
    await expect(searchSome(connection, { ...search, filter, filterText: text })).rejects.toThrow(
      `the connection was lost while reading "${BASE}" (scope base) with the filter ${text}`,
    )
  }
})

const PEOPLE = 300

/** Hands everything on until the server has sent so many bytes; then it ends the connection, or holds the rest back. */
function startRelay(port: number, most: number, then: (client: Socket) => unknown): Promise<Listening> {
  return listen((client) => {
    let sent = 0
    const server = connect({ host: '127.0.0.1', port }).on('error', () => undefined)
    client.on('data', (chunk) => server.write(chunk)).on('close', () => server.destroy())
    server.on('data', (chunk: Buffer) => {
      const before = sent
      sent += chunk.length
      client.write(chunk.subarray(0, Math.max(most - before, 0)))
      if (before < most && sent >= most) then(client)
    })
  })
}

describe('under TLS', () => {
  const passTime = useTimeOfSilence()
  let slapd: Slapd

  beforeAll(async () => {
    slapd = await startSlapd({ people: PEOPLE })
  })

  afterAll(() => slapd.close())

  const ports = [
    ['ldaps', () => Number(new URL(slapd.ldapsUrl).port), false],
    ['StartTLS', () => slapd.port, true],
  ] as const
  const ends = [
    ['ends politely', (client: Socket) => client.end(), 'the connection was lost'],
    ['is cut', (client: Socket) => client.resetAndDestroy(), 'the connection was lost'],
    ['goes silent', passTime, 'nothing arrived for 60 s'],
  ] as const
  const cases = ports.flatMap(([over, port, startTls]) =>
    ends.map(([how, then, words]) => [over, how, port, startTls, then, words] as const),
  )

  test.each(cases)(
    '%s: a server that %s in the middle of a read',
    async (over, _, port, startTls, then, words) => {
      await using relay = await startRelay(port(), 12_000, then)
      const url = relay.url.replace(
        'ldap://127.0.0.1',
        over === 'ldaps' ? 'ldaps://localhost' : 'ldap://localhost',
      )
      const { dn, password } = slapd.readers.reader
      const bind = { dn, password: async () => password }
      const reader = { tls: { ca: slapd.ca, startTls }, bind }
      const reading = createLdapSource(options(url, reader), silentLog()).read(NEVER)
      await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
      await expect(reading).rejects.toThrow(words)
    },
  )
})

/** A part of the values of a group. */
function groupPart(to: string): FakeEntry {
  const part = { [`member;range=0-${to}`]: [`uid=a,${BASE}`] }
  return { dn: `cn=g,${BASE}`, attributes: { cn: ['g'], modifyTimestamp: ['1'], ...part } }
}

describe('a request', () => {
  test('asks for no limits of its own and follows no aliases', async () => {
    const root = { dn: '', attributes: { objectClass: ['OpenLDAProotDSE'] } }
    const someone = { dn: `uid=a,${BASE}`, attributes: { uid: ['a'], modifyTimestamp: ['1'] } }
    await using server = await startFakeLdap(({ base, filter, attributes }) => {
      if (base === '') return { entries: [root] }
      if (attributes.includes('member;range=0-*')) return { entries: [groupPart('*')] }
      return { entries: [filter.includes('group') || base.startsWith('cn=') ? groupPart('0') : someone] }
    })
    const groups = { base: BASE, scope: 'sub', map: { external_id: 'cn', name: 'cn' } } as const
    const source = createLdapSource(options(server.url, { groups }), silentLog())
    expect((await source.read(NEVER)).groups.get('g')?.members).toEqual(['a'])
    await source.readIds('user', ['a', 'b'], NEVER)
    await source.probe(NEVER)
    await source.find({ who: 'a', kinds: ['user', 'group'] }, NEVER)
    expect(server.searches.length).toBeGreaterThan(12)
    for (const search of server.searches)
      expect(search).toMatchObject({ aliases: 0, sizeLimit: 0, timeLimit: 0 })
  })
})
