import { describe, expect, test } from 'vitest'
import type { Access } from '../../../../src/ui/http/access.ts'
import { sessionUser, signIn } from '../../../../src/ui/http/session.ts'
import { SignInCode } from '../../../../src/ui/http/sign-in-code.ts'
import { runOf } from '../cli/runs-for-tests.ts'
import { buildPagesForTests, PORT, TOKEN, WITH_TOKEN } from './pages-for-tests.ts'

function open(access: Partial<Access> = {}, signInCode?: SignInCode) {
  const runs = [runOf({ run: 7, state: 'held', questions: 1 })]
  return buildPagesForTests({ runs, access: { ...WITH_TOKEN, ...access }, signInCode })
}

type Pages = ReturnType<typeof open>['app']

const HTML = { accept: 'text/html,application/xhtml+xml' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }

function signInWith(app: Pages, token: string, to = '/runs/7', headers: Record<string, string> = {}) {
  const payload = new URLSearchParams({ user: 'ada', token, to: encodeURIComponent(to) }).toString()
  return app.inject({ method: 'POST', url: '/sign-in', headers: { ...FORM, ...headers }, payload })
}

function cookieOf(answer: { readonly headers: Record<string, unknown> }): string {
  return valueOf(String(answer.headers['set-cookie']))
}

test('a browser is led to the page for signing in, and from there to where it wanted to go', async () => {
  const { app, asked } = open()
  const refused = await app.inject({ url: '/runs/7?op=delete-user', headers: HTML })
  expect([refused.statusCode, refused.headers.location]).toEqual([
    303,
    '/sign-in?to=%2Fruns%2F7%3Fop%3Ddelete-user',
  ])
  const form = await app.inject({ url: String(refused.headers.location), headers: HTML })
  expect(form.statusCode).toBe(200)
  const entered = await signInWith(app, TOKEN)
  expect([entered.statusCode, entered.headers.location]).toEqual([303, '/runs/7'])
  expect(entered.headers['set-cookie']).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/)
  expect(entered.headers['set-cookie']).not.toContain(TOKEN)
  const cookie = cookieOf(entered)
  const page = await app.inject({ url: '/runs/7', headers: { ...HTML, cookie } })
  expect([page.statusCode, page.body.includes('Recorded as done by')]).toEqual([200, true])
  const approval = await app.inject({
    method: 'POST',
    url: '/runs/7/approve',
    headers: { ...FORM, cookie },
    payload: 'what=all&by=somebody+else',
  })
  expect(approval.statusCode).toBe(303)
  expect(asked).toEqual([['approve', { run: 7, by: 'ada', reason: undefined, isAll: true }]])
  const left = await app.inject({ method: 'POST', url: '/sign-out', headers: { ...FORM, cookie } })
  expect(left.headers['set-cookie']).toMatch(/^dirsyncd-session-8080=; Max-Age=0/)
})

test('two daemons on one host keep their sessions apart, which a browser sends to both', async () => {
  const daemons = [8080, 8081].map((port) => open({ port, token: async () => `${TOKEN} of ${port}` }).app)
  const [one, two] = await Promise.all(
    daemons.map(async (app, at) => cookieOf(await signInWith(app, `${TOKEN} of ${8080 + at}`))),
  )
  expect(one!.split('=')[0]).not.toBe(two!.split('=')[0])
  for (const app of daemons) {
    const page = await app.inject({ url: '/', headers: { ...HTML, cookie: `${one}; ${two}` } })
    expect([page.statusCode, page.body.includes('<bdi>ada</bdi>')]).toEqual([200, true])
  }
})

test.each(['wrong', '', `${TOKEN}x`, TOKEN.slice(1)])('%j is not the token', async (token) => {
  const heard: string[] = []
  const { app } = open({ wrongToken: (address) => heard.push(address) })
  const answer = await signInWith(app, token)
  expect(answer.statusCode).toBe(401)
  expect(heard).toEqual(['127.0.0.1'])
  expect(answer.headers['set-cookie']).toBeUndefined()
  expect(answer.body).toContain('This is not the token.')
})

test.each([
  'https://evil.example.com/',
  '//evil.example.com',
  '/\\evil.example.com',
  'javascript:alert(1)',
  '/a\r\nb',
])('nobody is sent to %j', async (to) => {
  expect((await signInWith(open().app, TOKEN, to)).headers.location).toBe('/')
})

test('a form of a stranger signs nobody in', async () => {
  const answer = await signInWith(open().app, TOKEN, '/', { 'sec-fetch-site': 'cross-site' })
  expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([403, undefined])
})

test('a field that the form for signing in does not have is refused', async () => {
  const payload = `user=ada&token=${TOKEN}&name=ada`
  const answer = await open().app.inject({ method: 'POST', url: '/sign-in', headers: FORM, payload })
  expect([answer.statusCode, answer.json().message]).toEqual([400, 'name is not known here.'])
})

test('a program that shows the token may act, with its name', async () => {
  const { app, asked } = open()
  const post = (authorization: string) =>
    app.inject({
      method: 'POST',
      url: '/runs/7/approve',
      headers: { 'content-type': FORM['content-type'], authorization },
      payload: 'what=all&by=robot',
    })
  expect((await post('Bearer another token')).statusCode).toBe(401)
  expect((await post(`Bearer ${TOKEN}`)).statusCode).toBe(303)
  expect(asked).toEqual([['approve', { run: 7, by: 'robot', reason: undefined, isAll: true }]])
})

test('behind a proxy with TLS the cookie stays on TLS', async () => {
  const answer = await signInWith(open().app, TOKEN, '/', { 'x-forwarded-proto': 'https' })
  expect(answer.headers['set-cookie']).toContain('; Secure')
})

function valueOf(header: string): string {
  return header.split(';')[0]!
}

test('the link of the terminal signs in whoever started the daemon, once', async () => {
  const code = new SignInCode('tom')
  const { app } = open({}, code)
  const url = `/sign-in/${code.code}`
  // A program that looks whether the link is good does not use it up.
  expect((await app.inject({ method: 'HEAD', url })).headers['set-cookie']).toBeUndefined()
  expect((await app.inject({ url: `${url}x` })).statusCode).toBe(401)
  const entered = await app.inject({ url, headers: HTML })
  expect([entered.statusCode, entered.headers.location]).toEqual([303, '/'])
  const cookie = cookieOf(entered)
  expect((await app.inject({ url: '/runs/7', headers: { ...HTML, cookie } })).body).toContain(
    '<bdi>tom</bdi>',
  )
  const again = await app.inject({ url, headers: HTML })
  expect([again.statusCode, again.headers['set-cookie']]).toEqual([401, undefined])
  expect(again.body).toContain('This link works once')
  // Whoever opens it again in the same browser is signed in already.
  expect((await app.inject({ url, headers: { ...HTML, cookie } })).headers.location).toBe('/')
})

test('the link of the terminal works for an hour, and none where there is no terminal', async () => {
  const code = new SignInCode('tom', 0)
  expect(code.use(code.code, 3_600_000)).toBeUndefined()
  expect(code.use(code.code, 3_599_999)).toBe('tom')
  for (const url of ['/sign-in/undefined', '/sign-in/x'])
    expect((await open().app.inject({ url })).statusCode).toBe(401)
})

describe('a session', () => {
  const PLACE = { port: PORT, token: TOKEN }

  test('ends with its time and with the token', () => {
    const cookie = valueOf(signIn('ada', PLACE, false, 0))
    expect(sessionUser(cookie, PLACE, 1)).toBe('ada')
    expect(sessionUser(cookie, PLACE, 12 * 3_600_000)).toBeUndefined()
    expect(sessionUser(cookie, { ...PLACE, token: 'another token of the test' }, 1)).toBeUndefined()
  })

  test('cannot be made or changed without the token', () => {
    const [content, signature] = valueOf(signIn('ada', PLACE, false, 0))
      .slice('dirsyncd-session-8080='.length)
      .split('.')
    const other = Buffer.from(JSON.stringify({ user: 'root', ends: 9e15 })).toString('base64url')
    for (const forged of [`${other}.${signature}`, `${content}.`, content, '', '.', `.${signature}`, 'x'])
      expect(sessionUser(`dirsyncd-session-8080=${forged}`, PLACE, 1)).toBeUndefined()
    expect(sessionUser(undefined, PLACE, 1)).toBeUndefined()
  })
})

test('pages that need no token name nobody', async () => {
  const { app } = open()
  for (const url of [
    '/',
    '/runs',
    '/runs/7',
    '/runs/7/changes.csv',
    '/runs/7/events',
    '/quarantine',
    '/metrics',
    '/nothing',
  ])
    expect([url, (await app.inject({ url })).statusCode]).toEqual([url, 401])
  for (const url of ['/healthz', '/readyz', '/sign-in'])
    expect((await app.inject({ url })).statusCode).toBe(200)
  for (const url of ['/runs/7/approve', '/syncs/corp/run', '/quarantine/release'])
    expect((await app.inject({ method: 'POST', url, headers: FORM, payload: '' })).statusCode).toBe(401)
})
