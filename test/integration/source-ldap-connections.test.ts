import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { loadCredentials } from '../../src/source/ldap/connection/bind.ts'
import { openConnection } from '../../src/source/ldap/connection/connection.ts'
import { parseEndpoints } from '../../src/source/ldap/connection/endpoint.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { LdapSourceOptions } from '../../src/source/ldap/options.ts'
import type { Source } from '../../src/source/source.ts'
import { makeClientCertificate } from '../support/certificates.ts'
import { startBlackholePort } from '../support/blackhole-port.ts'
import {
  type FaultAction,
  type LdapFault,
  type LdapProxy,
  startLdapProxy,
  type Step,
} from '../support/ldap-proxy.ts'
import { person } from '../support/people.ts'
import { useTimeOfSilence } from '../support/silence.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'

const passTime = useTimeOfSilence()
const PEOPLE = 120
const NEVER = new AbortController().signal
const DEAD = 'ldap://127.0.0.1:1'
import { statesOf } from '../support/states-of.ts'

let slapd: Slapd
let first: LdapProxy
let second: LdapProxy

beforeAll(async () => {
  slapd = await startSlapd({
    people: PEOPLE,
    global: ['TLSVerifyClient try', `authz-regexp "cn=([^,]+),o=clients" "cn=$1,ou=services,${BASE}"`],
  })
  first = await startLdapProxy(slapd.port)
  second = await startLdapProxy(slapd.port)
  for (const each of [first, second]) each.onSilence = passTime
})

afterAll(async () => {
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  await slapd.close()
})

afterEach(() => {
  first.setFault({ kind: 'none' })
  second.setFault({ kind: 'none' })
})

function options(more: Partial<LdapSourceOptions> = {}): LdapSourceOptions {
  const { dn, password } = slapd.readers.reader
  return {
    url: first.url,
    tls: { startTls: false },
    bind: { dn, password: async () => password },
    pageSize: 50,
    // Each is its own, so that a sentence tells which of them it was.
    timeouts: {
      connectMs: 60_001,
      handshakeMs: 60_002,
      bindMs: 60_003,
      firstAnswerMs: 60_004,
      answerMs: 60_005,
    },
    users: {
      base: `ou=people,${BASE}`,
      scope: 'sub',
      filter: '(objectClass=inetOrgPerson)',
      map: { external_id: 'entryUUID', email: 'mail' },
    },
    ...more,
  }
}

function source(more: Partial<LdapSourceOptions> = {}): Source {
  return createLdapSource(options(more), silentLog())
}

const startTls = () => ({
  url: first.url.replace('127.0.0.1', 'localhost'),
  tls: { ca: slapd.ca, startTls: true },
})

async function expectWhole(reader: Source): Promise<void> {
  expect((await reader.read(NEVER)).users.size).toBe(PEOPLE)
}

/** The read fails with this code, and these words follow the server's URL; the next one is right. */
async function expectFailure(reader: Source, code: string, words: string): Promise<void> {
  const error: unknown = await reader.read(NEVER).catch((thrown: unknown) => thrown)
  const { message } = error as Error
  expect(error).toMatchObject({ name: 'DirsyncdError', code })
  expect(message).toMatch(/^ldaps?:\/\/[\w.]+:\d+/)
  expect(message).toContain(words)
  expect(message).not.toMatch(/\n|undefined|correct horse/)
}

describe('a server that makes trouble while the connection is made ready', () => {
  test.each<[Step, FaultAction, string, string]>([
    [
      'starttls',
      'stall',
      'source-unreachable',
      'nothing arrived for 60.002 s while asking for StartTLS (timeouts.handshake)',
    ],
    ['starttls', 'cut', 'source-unreachable', 'the connection was lost while asking for StartTLS'],
    ['starttls', 2, 'source-refused', 'refused StartTLS: protocolError (result 2); use ldaps://'],
    ['starttls', 52, 'source-unreachable', 'refused StartTLS: unavailable'],
    ['bind', 'stall', 'source-unreachable', 'nothing arrived for 60.003 s while binding as'],
    ['bind', 'cut', 'source-unreachable', 'the connection was lost while binding as'],
    [
      'bind',
      'notice',
      'source-unreachable',
      'announced that it ends the connection ("going down for maintenance")',
    ],
    ['bind', 51, 'source-unreachable', 'busy: the server has too much to do (result 51)'],
    ['bind', 52, 'source-unreachable', 'unavailable: the server cannot answer now (result 52)'],
    ['bind', 80, 'source-unreachable', 'an error of its own (result 80)'],
    ['bind', 53, 'source-refused', 'unwillingToPerform (result 53)'],
    [
      'root',
      'stall',
      'source-unreachable',
      'nothing arrived for 60.003 s while reading what the server offers',
    ],
    ['root', 'cut', 'source-unreachable', 'the connection was lost while reading what the server offers'],
    ['root', 51, 'source-unreachable', 'ended with busy'],
    ['who-am-i', 'cut', 'source-unreachable', 'the connection was lost while asking who the reader is'],
    // An empty name is that of an anonymous reader (RFC 4532).
    ['who-am-i', 0, 'source-refused', 'took the bind and still treats the reader as anonymous'],
  ])('%s: %s', async (step, action, code, words) => {
    const reader = source(step === 'starttls' ? startTls() : {})
    first.setFault({ kind: 'at', step, action })
    await expectFailure(reader, code, words)
    first.setFault({ kind: 'none' })
    await expectWhole(reader)
  })

  test.each<[Step, number]>([
    ['root', 50],
    ['root', 32],
    ['who-am-i', 2],
    ['who-am-i', 53],
  ])(
    'a server that keeps the answer to %s to itself (result %i) is read all the same',
    async (step, action) => {
      first.setFault({ kind: 'at', step, action })
      await expectWhole(source())
    },
  )

  test('a server that takes no connection', async () => {
    await using blackhole = await startBlackholePort()
    const reader = source({ url: `ldap://127.0.0.1:${blackhole.port}` })
    const passing = setInterval(() => vi.advanceTimersByTime(60_001), 50)
    await expectFailure(
      reader,
      'source-unreachable',
      '(connecting): no answer within 60.001 s (timeouts.connect)',
    ).finally(() => clearInterval(passing))
  })

  test.each<[string, (socket: Socket) => void, string]>([
    ['stalls', passTime, 'no answer within 60.002 s (timeouts.handshake)'],
    ['hangs up', (socket) => socket.destroy(), '(connecting with TLS)'],
    [
      'speaks something else',
      (socket) => socket.write('220 mail.example.org ESMTP\r\n'),
      'it does not speak TLS there',
    ],
  ])('a server that %s at the TLS handshake', async (_, onHello, words) => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined))
      socket.once('data', () => onHello(socket))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    await expectFailure(source({ url: `ldaps://127.0.0.1:${port}` }), 'source-unreachable', words)
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  test('a server that stalls at the TLS handshake after StartTLS', async () => {
    const reader = source(startTls())
    first.setFault({ kind: 'stall-tls' })
    await expectFailure(reader, 'source-unreachable', '(timeouts.handshake)')
  })
})

describe('a server that makes trouble while it is read', () => {
  test.each<[string, LdapFault, string]>([
    ['stalls before the first answer', { kind: 'stall', page: 1, entry: 1 }, '(timeouts.firstAnswer)'],
    ['stalls in the middle of a page', { kind: 'stall', page: 2, entry: 20 }, '(timeouts.answer)'],
    ['stalls before the next page', { kind: 'stall', page: 2, entry: 1 }, '(timeouts.firstAnswer)'],
    ['hangs up before the first answer', { kind: 'hang-up', page: 1, entry: 1 }, 'the connection was lost'],
    ['is cut in the middle of a message', { kind: 'cut', page: 2, entry: 20 }, 'the connection was lost'],
    ['announces that it ends', { kind: 'notice', page: 3 }, 'announced that it ends the connection'],
  ])('%s: the read fails', async (_, fault, words) => {
    const reader = source()
    first.setFault(fault)
    await expectFailure(reader, 'source-incomplete', words)
    first.setFault({ kind: 'none' })
    await expectWhole(reader)
  })

  test.each<[string, LdapFault, string]>([
    ['is busy', { kind: 'result', page: 2, code: 51 }, '(result 51)'],
    ['meets an error of its own', { kind: 'result', page: 2, code: 80 }, '(result 80)'],
  ])('%s: the read fails, and nobody else is asked', async (_, fault, words) => {
    const reader = source({ url: [first.url, second.url] })
    const others = second.connections
    first.setFault(fault)
    await expectFailure(reader, 'source-incomplete', words)
    expect(second.connections).toBe(others)
    first.setFault({ kind: 'none' })
    await expectWhole(reader)
  })

  test('is frozen (SIGSTOP) in the middle of a read', async () => {
    const reader = source()
    let passing: NodeJS.Timeout | undefined
    const call = () => {
      slapd.freeze()
      passing = setInterval(() => vi.advanceTimersByTime(60_005), 50)
    }
    first.setFault({ kind: 'call', page: 2, call })
    try {
      await expectFailure(reader, 'source-incomplete', 'nothing arrived for')
    } finally {
      clearInterval(passing)
      slapd.resume()
    }
    first.setFault({ kind: 'none' })
    await expectWhole(reader)
  })
})

describe('several servers', () => {
  test.each<[string, () => string | Promise<string>]>([
    ['nobody listens', () => DEAD],
    ['the name is unknown', () => 'ldaps://no-such-host.invalid'],
  ])('the next one is read where %s', async (_, url) => {
    await expectWhole(source({ url: [await url(), second.url] }))
  })

  test.each<[Step, FaultAction]>([
    ['bind', 'stall'],
    ['bind', 'cut'],
    ['bind', 'notice'],
    ['bind', 51],
    ['bind', 52],
    ['bind', 80],
    ['root', 52],
  ])('the next one is read where %s meets %s, and the log says so', async (step, action) => {
    const warnings: { url?: string }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line)) })
    first.setFault({ kind: 'at', step, action })
    const reader = createLdapSource(options({ url: [first.url, second.url] }), log)
    await expectWhole(reader)
    expect(warnings.map(({ url }) => url)).toContain(first.url)
  })

  test.each<LdapFault>([
    { kind: 'cut', page: 2, entry: 3 },
    { kind: 'stall', page: 2, entry: 3 },
    { kind: 'notice', page: 3 },
    { kind: 'at', step: 'position', action: 'cut' },
  ])('the next one is read from the beginning where the first meets $kind in the middle', async (fault) => {
    const warnings: { url?: string; msg: string }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line)) })
    first.setFault(fault)
    const reader = createLdapSource(options({ url: [first.url, second.url] }), log)
    const reading = reader.read(NEVER)
    await expect(reading).resolves.toMatchObject({ server: { url: second.url } })
    expect((await reading).users.size).toBe(PEOPLE)
    expect(warnings).toMatchObject([{ url: first.url, msg: 'a server of the source was lost in the middle' }])
  })

  test('that are all lost in the middle are each asked once, and each named', async () => {
    for (const each of [first, second]) each.setFault({ kind: 'cut', page: 2, entry: 3 })
    const before = [first.connections, second.connections] as const
    const reading = source({ url: [first.url, second.url] }).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-unreachable' })
    await expect(reading).rejects.toThrow(
      /^none of the 2 servers can be used: ldap:\S+: the connection was lost while .*; ldap:\S+: the connection was lost/,
    )
    expect([first.connections, second.connections]).toEqual([before[0] + 1, before[1] + 1])
  })

  test('the sentence names each with its reason when none can be used', async () => {
    first.setFault({ kind: 'at', step: 'bind', action: 51 })
    const reading = source({ url: [DEAD, first.url] }).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-unreachable' })
    await expect(reading).rejects.toThrow(
      /^none of the 2 servers can be used: ldap:\/\/127\.0\.0\.1:1 cannot be reached \(connecting\): connection refused; ldap:.* \(result 51\)$/,
    )
  })

  test('a wrong password is tried once, at the first server that looks at it', async () => {
    const before = [first.binds, second.connections]
    const bind = { dn: slapd.readers.reader.dn, password: async () => 'wrong' }
    await expectFailure(source({ url: [first.url, second.url], bind }), 'source-refused', 'wrong password')
    expect([first.binds, second.connections]).toEqual([(before[0] ?? 0) + 1, before[1]])
  })

  test('a certificate for another host is no reason to try the next one', async () => {
    const wrong = slapd.ldapsUrl.replace('localhost', '127.0.0.1')
    const reader = source({ url: [wrong, slapd.ldapsUrl], tls: { ca: slapd.ca, startTls: false } })
    await expectFailure(reader, 'source-unreachable', 'its certificate is for another host')
  })

  test('an error about mixed-up ports, or a bind account that is no DN, has a hint', async () => {
    const tlsPort = new URL(slapd.ldapsUrl).port
    const tls = { ca: slapd.ca, startTls: false }
    const secure = source({ url: `ldaps://localhost:${slapd.port}`, tls })
    await expectFailure(secure, 'source-unreachable', 'perhaps this port is for ldap:// with tls.startTls')
    const plain = source({ url: `ldap://localhost:${tlsPort}` })
    await expectFailure(plain, 'source-unreachable', 'perhaps this port is for ldaps://')
    const starting = source({
      url: `ldap://localhost:${tlsPort}`,
      tls: { ...tls, startTls: true },
    })
    await expectFailure(starting, 'source-unreachable', 'perhaps this port is for ldaps://')
    const named = source({ url: slapd.url, bind: { dn: 'reader', password: async () => 'x' } })
    await expectFailure(named, 'source-refused', 'give the whole DN of the reader in bind.dn')
  })

  test('an interrupted read tries no other server', async () => {
    const controller = new AbortController()
    first.setFault({ kind: 'at', step: 'bind', action: 'stall' })
    const others = second.connections
    const reading = source({ url: [first.url, second.url] }).read(controller.signal)
    first.onSilence = () => controller.abort()
    await expect(reading).rejects.toMatchObject({ code: 'interrupted' })
    expect(second.connections).toBe(others)
    first.onSilence = passTime
  })

  test('the second look asks the server that was read, and another one only when that is gone', async () => {
    const id = person(1, BASE).entryUuid
    const look = () => reader.readIds('user', [id], NEVER)
    const reader = source({ url: [first.url, second.url] })
    first.setFault({ kind: 'at', step: 'bind', action: 52 })
    await expectWhole(reader)
    first.setFault({ kind: 'none' })
    const before = [first.connections, second.connections] as const
    expect(await statesOf(look())).toEqual(new Map([[id, 'present']]))
    expect([first.connections, second.connections]).toEqual([before[0], before[1] + 1])
    second.setFault({ kind: 'at', step: 'bind', action: 52 })
    expect(await statesOf(look())).toEqual(new Map([[id, 'present']]))
    expect(first.connections).toBe(before[0] + 1)
    // The next read begins with the first one again.
    await expectWhole(reader)
    expect(first.connections).toBe(before[0] + 2)
  })
})

const EXTERNAL = { external: true } as const

async function client() {
  const { certificate, key } = await makeClientCertificate(slapd.directory, '/O=clients/CN=reader')
  return { certificate: async () => certificate, key: async () => key }
}

describe('a client certificate', () => {
  test.each([
    ['ldaps', false],
    ['StartTLS', true],
  ])('makes the reader over %s (SASL EXTERNAL)', async (_, startTls_) => {
    const url = startTls_ ? slapd.namedUrl : slapd.ldapsUrl
    const tls = { ca: slapd.ca, startTls: startTls_, ...(await client()) }
    const reader = options({ url, tls, bind: EXTERNAL })
    await expectWhole(createLdapSource(reader, silentLog()))
    using connection = await open(reader)
    expect(connection.identity).toBe(`dn:${slapd.readers.reader.dn}`)
  })

  test('that the server demands and does not get is asked for by name', async () => {
    await using strict = await startSlapd({ people: 1, global: ['TLSVerifyClient demand'] })
    const reader = source({ url: strict.ldapsUrl, tls: { ca: strict.ca, startTls: false } })
    await expectFailure(reader, 'source-unreachable', '(perhaps it demands tls.certificate and tls.key)')
    const byStartTls = source({ url: strict.namedUrl, tls: { ca: strict.ca, startTls: true } })
    await expectFailure(byStartTls, 'source-unreachable', '(perhaps it demands tls.certificate and tls.key)')
    const { certificate, key } = await makeClientCertificate(strict.directory, '/O=clients/CN=any')
    const tls = { ca: strict.ca, startTls: false, certificate: async () => certificate, key: async () => key }
    expect((await source({ url: strict.ldapsUrl, tls }).read(NEVER)).users.size).toBe(1)
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'that a server demands with an alert (%s) is asked for by name',
    async (version) => {
      const [cert, key] = await Promise.all(
        ['server.pem', 'server.key'].map((name) => readFile(join(slapd.directory, name))),
      )
      const demanding = { requestCert: true, rejectUnauthorized: true, ca: slapd.ca, maxVersion: version }
      const server = createTlsServer({ ...demanding, cert, key }).on('tlsClientError', () => undefined)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const address = server.address()
      const url = `ldaps://localhost:${typeof address === 'object' ? address?.port : 0}`
      const reader = source({ url: [url, slapd.ldapsUrl], tls: { ca: slapd.ca, startTls: false } })
      await expectFailure(reader, 'source-refused', 'tls.certificate')
      server.close()
    },
  )

  test('with the key of another certificate is refused before anything is sent', async () => {
    const [one, other] = [await client(), await client()]
    const tls = { ca: slapd.ca, startTls: false, certificate: one.certificate, key: other.key }
    const reading = source({ url: slapd.ldapsUrl, tls, bind: EXTERNAL }).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'config-invalid' })
    await expect(reading).rejects.toThrow('tls.key: it is not the key of tls.certificate')
    await expect(reading).rejects.not.toThrow('BEGIN')
  })

  test.each([
    ['certificate', 'tls.certificate: there is no PEM certificate in it'],
    ['key', 'tls.key: there is no unencrypted PEM key in it'],
  ])('whose %s is no PEM text is named', async (option, words) => {
    const tls = { ca: slapd.ca, startTls: false, ...(await client()), [option]: async () => 'garbage' }
    const reading = source({ url: slapd.ldapsUrl, tls, bind: EXTERNAL }).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'config-invalid', message: words })
  })

  test('that the server maps to no account is refused', async () => {
    await using plain = await startSlapd({ people: 1, global: ['TLSVerifyClient never'] })
    const tls = { ca: plain.ca, startTls: false, ...(await client()) }
    const reader = source({ url: plain.ldapsUrl, tls, bind: EXTERNAL })
    await expectFailure(reader, 'source-refused', 'refused the bind with the client certificate')
  })
})

async function open(from: LdapSourceOptions) {
  const [endpoint] = parseEndpoints(from)
  return openConnection(endpoint, from, await loadCredentials(from), NEVER, { log: silentLog() })
}

test('the server says who the bind account is, and what it offers', async () => {
  using connection = await open(options())
  expect(connection.identity).toBe(`dn:${slapd.readers.reader.dn}`)
  expect(connection.rootDse?.attributes.get('namingcontexts')?.map(String)).toEqual([BASE])
  const { bind: _, ...anonymous } = options()
  using nobody = await open(anonymous)
  expect(nobody.identity).toBe('')
})

test.each<[string, (impatient: Slapd) => Partial<LdapSourceOptions>]>([
  ['plain', ({ url }) => ({ url })],
  ['ldaps', ({ ldapsUrl, ca }) => ({ url: ldapsUrl, tls: { ca, startTls: false } })],
  ['StartTLS', ({ namedUrl, ca }) => ({ url: namedUrl, tls: { ca, startTls: true } })],
])('%s: a server that ends idle connections does not harm the next read', async (_, more) => {
  await using impatient = await startSlapd({ people: PEOPLE, global: ['idletimeout 2'] })
  const reader = source(more(impatient))
  await expectWhole(reader)
  const idle = connect(impatient.port, '127.0.0.1').on('error', () => undefined)
  await once(idle.resume(), 'close')
  await expectWhole(reader)
  expect(await statesOf(reader.readIds('user', [person(1, BASE).entryUuid], NEVER))).toEqual(
    new Map([[person(1, BASE).entryUuid, 'present']]),
  )
})
