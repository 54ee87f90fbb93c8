import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import type { Access } from '../../../../src/ui/http/access.ts'
import { buildWorkerApp } from '../../../../src/ui/http/watching.ts'
import { silentLog } from '../../../../src/base/log/log.ts'
import { buildPagesForTests } from './pages-for-tests.ts'

const watching = {
  whyNotReady: async () => undefined,
  metrics: async () => ({ contentType: 'text/plain', text: 'up 1\n' }),
}
const TOKEN = 'a-long-token:with-a-colon'
const WITH_TOKEN: Access = {
  port: 8080,
  hosts: [],
  token: async () => TOKEN,
  proxy: undefined,
  wrongToken: () => {},
}
const PROXY = {
  header: 'x-remote-user',
  networks: ['10.1.0.0/16', '2001:db8::/32', '192.0.2.7'],
  secret: undefined,
}
const BEARER = { authorization: `Bearer ${TOKEN}` }

function pagesFor(access: Partial<Access>) {
  return buildPagesForTests({ watching, access: { ...WITH_TOKEN, ...access } }).app
}

function basic(text: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
}

test.each([
  ['127.0.0.1:8080', 200],
  ['10.2.3.4:8080', 200],
  ['[::1]:8080', 200],
  ['localhost:8080', 200],
  ['LocalHost', 200],
  ['dirsyncd.example.org', 200],
  ['DIRSYNCD.example.org:8080', 200],
  ['evil.example.com:8080', 421],
  ['127.0.0.1.evil.example.com', 421],
  ['localhost.evil.example.com', 421],
])('who asks for %j gets %i', async (host, status) => {
  const app = pagesFor({ hosts: ['dirsyncd.example.org'] })
  for (const url of ['/', '/metrics']) {
    expect((await app.inject({ url, headers: { host, ...BEARER } })).statusCode).toBe(status)
  }
  for (const url of ['/healthz', '/readyz'])
    expect((await app.inject({ url, headers: { host } })).statusCode).toBe(200)
})

const SHOWN: readonly (readonly [string, Record<string, string>, number])[] = [
  ['nothing', {}, 401],
  ['the token as a bearer', { authorization: `Bearer ${TOKEN}` }, 200],
  ['the token as a password', basic(`anybody:${TOKEN}`), 200],
  ['another password', basic('anybody:wrong'), 401],
  ['the token as the user', basic(`${TOKEN}:`), 401],
  ['another scheme', { authorization: `Token ${TOKEN}` }, 401],
  ['an empty bearer', { authorization: 'Bearer ' }, 401],
  ['the beginning of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 401],
  ['the header of a proxy that there is not', { 'x-remote-user': 'ada' }, 401],
]

test.each(SHOWN)('who shows %s', async (_what, headers, status) => {
  for (const app of [pagesFor({}), buildWorkerApp(watching, WITH_TOKEN, silentLog())]) {
    const answer = await app.inject({ url: '/metrics', headers })
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['www-authenticate']).toEqual(
      status === 401 ? 'Basic realm="dirsyncd", charset="UTF-8"' : undefined,
    )
    expect(answer.body).not.toContain(TOKEN)
    for (const url of ['/healthz', '/readyz'])
      expect((await app.inject({ url, headers })).statusCode).toBe(200)
  }
})

test('whoever shows a wrong token is heard of, not who shows none', async () => {
  const heard: string[] = []
  const app = pagesFor({ wrongToken: (address) => heard.push(address) })
  const remoteAddress = '10.2.0.1'
  for (const headers of [{}, { authorization: `Bearer ${TOKEN}` }, basic('anybody:wrong')])
    await app.inject({ url: '/metrics', headers, remoteAddress })
  expect(heard).toEqual([remoteAddress])
})

test.each([
  ['10.1.200.3', 'ada', 200],
  ['::ffff:10.1.200.3', 'ada', 200],
  ['2001:db8:5::1', 'ada', 200],
  ['192.0.2.7', 'ada', 200],
  ['192.0.2.8', 'ada', 401],
  ['10.2.0.1', 'ada', 401],
  ['127.0.0.1', 'ada', 401],
  ['10.1.200.3', ' ', 401],
  ['10.1.200.3', undefined, 401],
])('the user whom %s names is %j', async (remoteAddress, user, status) => {
  const app = pagesFor({ proxy: PROXY })
  const headers = user === undefined ? {} : { 'x-remote-user': user, 'x-forwarded-for': '10.1.0.1' }
  const answer = await app.inject({ url: '/', remoteAddress, headers })
  expect(answer.statusCode).toBe(status)
})

const EVERYWHERE = { header: 'x-remote-user', networks: ['0.0.0.0/0', '::/0'] }
const SECRET = 'the-secret-of-the-proxy'
/** All that a connection of this machine may come from. */
const OF_THIS_MACHINE = [
  '127.1.2.3',
  '::ffff:127.0.0.1',
  ...Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address)),
]

test('a proxy on this machine names a user only with the secret', async () => {
  for (const remoteAddress of OF_THIS_MACHINE) {
    const heard: string[] = []
    const ask = async (secret: (() => Promise<string>) | undefined, shown: Record<string, string>) => {
      const proxy = { ...EVERYWHERE, secret }
      const app = pagesFor({ proxy, wrongToken: (address) => heard.push(address) })
      const headers = { 'x-remote-user': 'boss', ...shown }
      const { statusCode } = await app.inject({ url: '/', remoteAddress, headers })
      return [remoteAddress, statusCode]
    }
    expect(await ask(undefined, {})).toEqual([remoteAddress, 401])
    expect(await ask(undefined, { 'x-dirsyncd-proxy-secret': 'undefined' })).toEqual([remoteAddress, 401])
    const secret = async () => SECRET
    expect(await ask(secret, {})).toEqual([remoteAddress, 401])
    expect(heard).toEqual([])
    expect(await ask(secret, { 'x-dirsyncd-proxy-secret': 'a-guess' })).toEqual([remoteAddress, 401])
    expect(heard).toEqual([remoteAddress])
    expect(await ask(secret, { 'x-dirsyncd-proxy-secret': SECRET })).toEqual([remoteAddress, 200])
  }
})

test('where there is a secret, a proxy of another machine needs it, too', async () => {
  const app = pagesFor({ proxy: { ...PROXY, secret: async () => SECRET } })
  const ask = async (headers: Record<string, string>) =>
    (
      await app.inject({
        url: '/',
        remoteAddress: '10.1.0.1',
        headers: { 'x-remote-user': 'ada', ...headers },
      })
    ).statusCode
  expect([await ask({}), await ask({ 'x-dirsyncd-proxy-secret': SECRET })]).toEqual([401, 200])
})

test.each([
  ['10.1.0.1', '10.9.9.9, 198.51.100.7', '198.51.100.7'],
  ['10.1.0.1', 'unknown', '10.1.0.1'],
  ['10.1.0.1', undefined, '10.1.0.1'],
  ['10.2.0.1', '198.51.100.7', '10.2.0.1'],
])('a wrong token through %s for %j is heard of from %s', async (remoteAddress, forwarded, address) => {
  const heard: string[] = []
  const app = pagesFor({ proxy: PROXY, wrongToken: (each) => heard.push(each) })
  const headers = {
    'sec-fetch-site': 'same-origin',
    ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
  }
  await app.inject({ url: '/', remoteAddress, headers: { ...headers, ...basic('anybody:wrong') } })
  const payload = { user: 'ada', token: 'wrong' }
  await app.inject({ method: 'POST', url: '/sign-in', remoteAddress, headers, payload })
  expect(heard).toEqual([address, address])
})

test('a worker without a token shows health alone', async () => {
  const app = buildWorkerApp(watching, undefined, silentLog())
  for (const url of ['/healthz', '/readyz']) expect((await app.inject({ url })).statusCode).toBe(200)
  for (const headers of [{}, { authorization: 'Bearer undefined' }]) {
    const answer = await app.inject({ url: '/metrics', headers })
    expect([answer.statusCode, answer.json().message]).toEqual([
      404,
      'A worker without admin.token shows only /healthz and /readyz.',
    ])
  }
})

test('a token that cannot be read lets nobody in', async () => {
  const app = pagesFor({ token: () => Promise.reject(new Error('the file is gone')) })
  for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: 'Bearer undefined' }]) {
    const { statusCode } = await app.inject({ url: '/', headers })
    expect(statusCode).toBeGreaterThanOrEqual(400)
  }
})

test('every answer forbids to be framed, guessed at and stored, and pages what is not theirs', async () => {
  const app = pagesFor({})
  for (const url of ['/', '/metrics', '/healthz', '/not-there']) {
    const { headers } = await app.inject({ url, headers: BEARER })
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/),
    })
  }
  const page = await app.inject({ url: '/', headers: BEARER })
  expect(page.headers['content-security-policy']).toMatch(/script-src 'self'; .*form-action 'self'/)
})
