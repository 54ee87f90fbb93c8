import { chmod, readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Program } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { openSite, type Site } from '../support/site.ts'
import { embeddedConfig } from '../support/sync-config.ts'
import { KEYS, openTerminal } from '../support/terminal.ts'

let stack: AsyncDisposableStack
let site: Site
let origin: string
let file: string

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  site = stack.use(await openSite())
  const listen = `127.0.0.1:${await freePort()}`
  origin = `http://${listen}`
  file = join(site.dataDir, 'admin-token')
  const source = { type: 'csv', users: { path: './users.csv', map: { external_id: 'id' } } }
  const directory = {
    baseUrl: 'http://127.0.0.1:9',
    organizationId: 1,
    directoryId: 7,
    token: { file: './api-token' },
  }
  await site.write('users.csv', 'id\n')
  await site.write('api-token', 'a-token-of-the-api')
  await site.configure(
    embeddedConfig([{ name: 'corp', source, directory }], { admin: { listen }, log: { level: 'info' } }),
  )
})

afterEach(() => stack.disposeAsync())

async function startDaemon(): Promise<Program> {
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  return daemon
}

async function statusOf(path: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return (await fetch(`${origin}${path}`, { headers })).status
}

test('without a configured token the daemon makes one, which only its user may read, and keeps it', async () => {
  const daemon = await startDaemon()
  const token = (await readFile(file, 'utf8')).trim()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  for (const path of ['/', '/runs', '/metrics']) {
    expect([path, await statusOf(path)]).toEqual([path, 401])
    expect([path, await statusOf(path, token)]).toEqual([path, 200])
  }
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200])
  expect(daemon.output()).toContain(`The token to sign in with is in ${file}`)
  expect(daemon.output()).not.toContain(token)
  expect(daemon.output()).not.toContain('/sign-in/')
  daemon.kill('SIGTERM')
  await daemon.ended

  await chmod(file, 0o644)
  await startDaemon()
  expect([(await stat(file)).mode & 0o777, await statusOf('/', token)]).toEqual([0o600, 200])
})

test('on a terminal the daemon shows a link that signs in its operator', async () => {
  const terminal = stack.use(
    openTerminal(['start', '--config', join(site.dir, 'dirsyncd.yaml')], site.dir, { SUDO_USER: 'ada' }),
  )
  // A daemon outlives its terminal.
  stack.defer(async () => {
    await terminal.answer(/./, KEYS.ctrlC)
    await terminal.ended
  })
  await expect.poll(() => terminal.shown()).toContain('The token to sign in with is in')
  const [, name, link = ''] = /Sign in as (\S+): (\S+)/.exec(terminal.shown()) ?? []
  expect(terminal.shown()).not.toContain((await readFile(file, 'utf8')).trim())
  const entered = await fetch(link, { redirect: 'manual' })
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/'])
  const cookie = entered.headers.get('set-cookie')!.split(';')[0]!
  const page = await fetch(`${origin}/`, { headers: { cookie, accept: 'text/html' } })
  expect(await page.text()).toContain(`<bdi>${name}</bdi>`)
  expect(name).toBe(process.getuid?.() === 0 ? 'ada' : userInfo().username)
  expect((await fetch(link, { redirect: 'manual' })).status).toBe(401)
})

test('who decides is in the log of the daemon, by command and by page', async () => {
  const daemon = await startDaemon()
  const token = (await readFile(file, 'utf8')).trim()
  expect(await site.run('pause', 'corp')).toMatchObject({ code: 0 })
  expect(await site.run('resume', 'corp', '--no-plan')).toMatchObject({ code: 0 })
  const post = (path: string, form: Record<string, string>) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { authorization: `Bearer ${token}` },
      redirect: 'manual',
    })
  expect((await post('/syncs/corp/pause', { by: 'ben' })).status).toBe(303)
  expect((await post('/syncs/corp/resume', { by: 'ben' })).status).toBe(303)
  const decided = daemon
    .output()
    .split('\n')
    .filter((line) => line.includes('an operator decided'))
    .map((line) => JSON.parse(line))
  const operator = process.env['SUDO_USER'] ?? userInfo().username
  expect(decided).toMatchObject([
    { decision: 'pause', sync: 'corp', by: operator },
    { decision: 'resume', sync: 'corp', by: operator },
    { decision: 'pause', sync: 'corp', by: 'ben' },
    { decision: 'resume', sync: 'corp', by: 'ben' },
  ])
})
