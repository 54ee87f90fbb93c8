import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { createLog, type Log } from '../../src/base/log/log.ts'
import { newToken } from '../../src/service/access-token.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startForTest } from '../support/service.ts'
import { ask, problem } from '../contract/api.ts'
import { eventually } from '../support/eventually.ts'
import { send, serve, stop } from './service-process.ts'

/** Statuses of so many requests, one after the other. */
async function statuses(count: number, make: () => Promise<{ readonly status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let index = 0; index < count; index += 1) seen.push((await make()).status)
  return seen
}

/** How often the store was asked since. */
function countQueries(running: RunningService): () => number {
  const connects = vi.spyOn(running.pool, 'connect')
  return () => connects.mock.calls.length
}

/** A request without a good token from behind a proxy. */
function from(running: RunningService, client: string) {
  return ask(running, 'listDirectories', { token: 'unknown', headers: { 'x-forwarded-for': client } })
}

describe('the limit of requests', () => {
  const LIMIT = { requests: 3, per: 60_000 }

  test('a token that is above it waits as long as the answer says, and others go on', async () => {
    const running = await startForTest({ rateLimit: LIMIT })
    expect(await statuses(3, () => ask(running, 'listDirectories'))).toEqual([200, 200, 200])
    const refused = await ask(running, 'listDirectories')
    expect(refused).toMatchObject(problem(429))
    const wait = Number(refused.headers.get('retry-after'))
    expect(Number.isInteger(wait) && wait >= 1 && wait <= 60).toBe(true)
    expect((await ask(running, 'listDirectories', { token: FIXTURE.readOnlyToken })).status).toBe(200)
    expect(running.requests().map(({ status, done }) => [status, done])).toContainEqual([429, false])
  })

  test('it is no work to refuse', async () => {
    const running = await startForTest({ rateLimit: LIMIT })
    await statuses(4, () => ask(running, 'listDirectories'))
    const queries = countQueries(running)
    expect(await statuses(3, () => ask(running, 'listDirectories'))).toEqual([429, 429, 429])
    expect(queries()).toBe(0)
  })

  test('it ends, and Retry-After is at least a second', async () => {
    const running = await startForTest({ rateLimit: { requests: 1, per: 300 } })
    await ask(running, 'listDirectories')
    const refused = await ask(running, 'listDirectories')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    await eventually(async () => expect((await ask(running, 'listDirectories')).status).toBe(200))
  })

  test('a hundred entries are one request', async () => {
    const running = await startForTest({ rateLimit: { requests: 1, per: 60_000 } })
    const users = Array.from({ length: 100 }, (_, index) => ({ external_id: `u${index}` }))
    expect(await statuses(2, () => ask(running, 'createUsers', { json: { users } }))).toEqual([201, 429])
  })

  test('the same token, however it is written, is one token', async () => {
    const running = await startForTest({ rateLimit: LIMIT })
    const written = ['token', 'Token', 'TOKEN ', 'token   '].map((scheme) => `${scheme} ${FIXTURE.token}`)
    const seen: number[] = []
    for (const authorization of written) {
      seen.push((await ask(running, 'listDirectories', { headers: { authorization } })).status)
    }
    expect(seen).toEqual([200, 200, 200, 429])
  })

  test('who has no good token is counted by address, and the store is not asked for them for ever', async () => {
    const running = await startForTest({ rateLimit: LIMIT })
    let number = 0
    const guess = () => ask(running, 'listDirectories', { token: `guess-${(number += 1)}` })
    expect(await statuses(5, guess)).toEqual([401, 401, 401, 429, 429])
    const queries = countQueries(running)
    expect((await ask(running, 'listDirectories', { token: null })).status).toBe(429)
    expect(await guess()).toMatchObject(problem(429))
    expect(queries()).toBe(0)
  })

  test('a token that was good before goes on working beside them', async () => {
    const running = await startForTest({ rateLimit: { requests: 5, per: 60_000 } })
    await ask(running, 'listDirectories')
    await statuses(7, () => ask(running, 'listDirectories', { token: FIXTURE.expiredToken }))
    expect((await ask(running, 'listDirectories')).status).toBe(200)
    expect((await ask(running, 'listDirectories', { token: FIXTURE.readOnlyToken })).status).toBe(429)
  })

  test('behind a trusted proxy the address is that of the client, and nobody else may name one', async () => {
    const limit = { rateLimit: { requests: 1, per: 60_000 } }
    const behind = await startForTest({ ...limit, trustedProxies: ['127.0.0.1'] })
    const seen = [
      await from(behind, '192.0.2.1'),
      await from(behind, '192.0.2.1'),
      await from(behind, '192.0.2.2'),
    ]
    expect(seen.map(({ status }) => status)).toEqual([401, 429, 401])
    await behind.close()
    const open = await startForTest(limit)
    const lying = [await from(open, '192.0.2.1'), await from(open, '192.0.2.2')]
    expect(lying.map(({ status }) => status)).toEqual([401, 429])
  })

  test.each([
    ['127.0.0.0/8', true],
    ['0.0.0.0/0', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:127.0.0.0/104', true],
    ['::ffff:0:0/96', true],
    ['10.0.0.0/8', false],
    ['::ffff:10.0.0.0/104', false],
    ['::/0', false],
    ['::1', false],
  ])('the proxy 127.0.0.1 with trustedProxies %s is trusted: %s', async (proxy, trusted) => {
    const limit = { rateLimit: { requests: 1, per: 60_000 } }
    const running = await startForTest({ ...limit, trustedProxies: [proxy] })
    const seen = [await from(running, '192.0.2.1'), await from(running, '192.0.2.2')]
    expect(seen.map(({ status }) => status)).toEqual([401, trusted ? 401 : 429])
  })

  test('faults keep their own limit, and the health has none', async () => {
    const running = await startForTest({ rateLimit: LIMIT, faults: 'limit=2/60s' })
    expect(await statuses(3, () => ask(running, 'listDirectories'))).toEqual([200, 200, 429])
    expect(running.requests().map(({ fault }) => fault)).toEqual([undefined, undefined, 'limit'])
    expect(await statuses(10, () => fetch(`${running.baseUrl}/healthz`))).toEqual(Array(10).fill(200))
  })
})

test('a contact reads credentials 60 times in a minute, so that a stolen token does not empty a vault at once', async () => {
  const running = await startForTest({ rateLimit: undefined })
  const read = (token: string) => ask(running, 'readCredentials', { token })
  const seen = await statuses(61, () => read(FIXTURE.userToken))
  expect(seen).toEqual([...Array(60).fill(200), 429])
  const queries = countQueries(running)
  const refused = await read(FIXTURE.userReadToken)
  // The query for the token.
  expect(queries()).toBe(1)
  expect(refused).toMatchObject(problem(429))
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30)
  expect((await read(FIXTURE.benToken)).status).not.toBe(429)
  expect((await ask(running, 'listSubscriptions', { token: FIXTURE.userToken })).status).toBe(200)
  const query = '?filters[type]=read_credentials'
  expect((await ask(running, 'listEvents', { query })).headers.get('total')).toBe('60')
})

/** Sends bytes one by one, as long as the other side takes them, and resolves with what it answered. */
async function trickle(port: number, head: string, rest: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  socket.write(head)
  void (async () => {
    for (const byte of rest) {
      if (socket.destroyed) return
      socket.write(byte)
      await sleep(50)
    }
  })()
  await closed
  return answer
}

function portOf(running: RunningService): number {
  return Number(new URL(running.baseUrl).port)
}

describe('clients that are slow, many or large', () => {
  const LONG = 'x'.repeat(10_000)

  test('one that sends its headers byte by byte is cut', async () => {
    const running = await startForTest({ timeouts: { headers: 300, request: 600 } })
    const answer = await trickle(portOf(running), 'GET /healthz HTTP/1.1\r\nX-Slow: ', LONG)
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('urn:access-management:problem:request-timeout')
  })

  test('one that sends its body byte by byte is cut, and nothing is done', async () => {
    const running = await startForTest({ timeouts: { headers: 300, request: 600 } })
    const head =
      `POST /api/v2/organizations/1/admin/directories/7/users HTTP/1.1\r\nHost: x\r\nX-Device-Id: d\r\n` +
      `Authorization: token ${FIXTURE.token}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
      `Content-Length: ${LONG.length}\r\n\r\nusers[][external_id]=`
    await trickle(portOf(running), head, LONG)
    await eventually(() => expect(running.requests()).toMatchObject([{ done: false }]))
  })

  test('one that sends nothing at all is cut', async () => {
    const running = await startForTest({ timeouts: { headers: 60_000, request: 60_000, silence: 300 } })
    expect(await trickle(portOf(running), '', '')).toBe('')
  })

  test('headers that are too large are refused', async () => {
    const running = await startForTest({})
    const answer = await fetch(`${running.baseUrl}/healthz`, { headers: { 'x-large': 'x'.repeat(20_000) } })
    expect(answer.status).toBe(431)
    expect(await answer.json()).toMatchObject({ status: 431 })
  })

  test('connections above the limit are closed, and said once', async () => {
    const { log, lines } = collect()
    const running = await startForTest({ maxConnections: 2, trustedProxies: ['127.0.0.0/8'], log })
    const sockets = await connectOften(running, 5)
    await eventually(() => expect(sockets.filter(({ closed }) => closed)).toHaveLength(3))
    for (const socket of sockets) socket.destroy()
    expect(lines.filter((line) => line.includes('too many are open'))).toHaveLength(1)
    await eventually(async () => expect((await ask(running, 'listDirectories')).status).toBe(200))
  })

  test('one address has a quarter of the connections, and others have theirs', async () => {
    const { log, lines } = collect()
    const running = await startForTest({ maxConnections: 12, log })
    const sockets = await connectOften(running, 6, '127.0.0.2')
    await eventually(() => expect(sockets.filter(({ closed }) => closed)).toHaveLength(3))
    expect((await ask(running, 'listDirectories')).status).toBe(200)
    expect(lines.filter((line) => line.includes('127.0.0.2'))).toHaveLength(1)
    for (const socket of sockets) socket.destroy()
    await eventually(async () => {
      const [again] = await connectOften(running, 1, '127.0.0.2')
      await sleep(50)
      expect(again?.closed).toBe(false)
      again?.destroy()
    })
  })
})

function collect(): { log: Log; lines: string[] } {
  const lines: string[] = []
  return { log: createLog('warn', { destination: { write: (line) => void lines.push(line) } }), lines }
}

async function connectOften(
  running: RunningService,
  count: number,
  localAddress = '127.0.0.1',
): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let number = 0; number < count; number += 1) {
    const socket = connect({ port: portOf(running), host: '127.0.0.1', localAddress })
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    sockets.push(socket)
  }
  return sockets
}

test('no log has a token, a body, a password or a value of the query that nothing reads, at any level', async () => {
  const lines: string[] = []
  const log = createLog('debug', { destination: { write: (line) => void lines.push(line) } })
  log.level = 'trace'
  const running = await startForTest({ log, rateLimit: { requests: 7, per: 60_000 } })
  const planted = 'planted-in-a-request'
  const path = `/api/v2/organizations/1/subscriptions/${FIXTURE.samlSubscriptionId}`
  const post = (url: string, body: string | undefined, token: string) =>
    fetch(`${running.baseUrl}${url}`, {
      method: 'POST',
      headers: {
        authorization: `token ${token}`,
        'x-device-id': 'd',
        'content-type': 'application/x-www-form-urlencoded',
      },
      ...(body !== undefined && { body }),
    })
  await post(`${path}/credentials?password=${planted}`, undefined, FIXTURE.userToken)
  await post(`${path}/password/reset?x=${planted}`, undefined, FIXTURE.userToken)
  await post(`${path}/assertion`, `RelayState=${planted}`, FIXTURE.userToken)
  await ask(running, 'createUsers', { form: [['users[][name]', planted]] })
  await ask(running, 'createUsers', { json: { users: planted }, token: `${planted}-token` })
  const token = newToken()
  await ask(running, 'listUsers', {
    query: `?access_token=${planted}&token=${token}&page=1`,
    deviceId: token,
  })
  await ask(running, 'getUser', { externalId: token.replace('_', '%5F') })
  await ask(running, 'listOrganizationGroups', { query: `?q=${token}` })
  // What fails within the service is logged.
  await running.pool.query('alter table access_management.external_users rename to gone')
  expect((await ask(running, 'createUsers', { form: [['users[][name]', planted]] })).status).toBe(500)
  await eventually(() => expect(running.requests()).toHaveLength(9))
  const logged = `${lines.join('')}${JSON.stringify(running.requests())}`
  expect(logged).toContain('request failed')
  for (const secret of [planted, FIXTURE.token, FIXTURE.userToken, ...FIXTURE.secrets, token.slice(10)]) {
    expect(logged).not.toContain(secret)
  }
})

test('a store whose connections are all busy for too long is unavailable, and no failure of the service', async () => {
  const running = await startForTest()
  const { options } = running.pool
  const busy = await Promise.all(Array.from({ length: options.max }, () => running.pool.connect()))
  options.connectionTimeoutMillis = 50
  expect(await ask(running, 'listDirectories')).toMatchObject(problem(503))
  for (const client of busy) client.release()
  expect((await ask(running, 'listDirectories')).status).toBe(200)
})

/** What comes of a new connection: it stands, or the code of its error. */
async function connecting(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  return once(socket, 'connect').then(
    () => {
      socket.destroy()
      return 'connected'
    },
    (error: NodeJS.ErrnoException) => error.code ?? '',
  )
}

describe('a stop of the real process', () => {
  test('lets a request in flight end, and takes no new one', async () => {
    await using stack = new AsyncDisposableStack()
    const { port, program } = await serve(stack, 'latency=1:1s')
    const { answer } = await send(port)
    const ended = stop(program)
    await eventually(async () => expect(await connecting(port)).toBe('ECONNREFUSED'))
    expect(await answer).toBe(200)
    await ended
  })
})
