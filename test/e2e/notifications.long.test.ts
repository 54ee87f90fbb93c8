import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type MailServer,
  startMailServer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/receivers.ts'
import type { Program } from '../support/program.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection } from '../support/sync-config.ts'

const SECRET = `whsec_${randomBytes(32).toString('base64')}`

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let receiver: WebhookReceiver
let mails: MailServer

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  receiver = stack.use(await startWebhookReceiver(SECRET))
  mails = stack.use(await startMailServer())
  site = stack.use(await openSite())
  await site.write('secret', SECRET)
  await configure()
})

afterEach(() => stack.disposeAsync())

async function configure(more: object = {}): Promise<void> {
  const map = { external_id: 'id', email: 'mail', name: 'name' }
  const corp = {
    name: 'corp',
    source: { type: 'csv', settle: '1ms', users: { path: './users.csv', map } },
    directory: directorySection(service, { allowedDomains: undefined }),
    guards: { users: { maxUpdatePercent: null } },
  }
  const channels = [
    { name: 'ops', type: 'webhook', url: receiver.url, secret: { file: './secret' } },
    {
      name: 'mail',
      type: 'email',
      host: '127.0.0.1',
      port: mails.port,
      security: 'none',
      from: 'dirsyncd@example.org',
      to: ['ops@example.org'],
      events: ['asking', 'failing'],
    },
  ]
  await site.configure(databaseConfig([corp], { notifications: { channels }, ...more }))
}

/** The first `bad` have an e-mail that the service refuses. */
function people(count: number, bad = 0): string {
  const rows = Array.from({ length: count }, (_, nth) => {
    const domain = nth < bad ? 'other.example' : 'example.org'
    return `u${nth},u${nth}@${domain},Person ${nth}`
  })
  return ['id,mail,name', ...rows, ''].join('\n')
}

async function startDaemon(of: Site = site): Promise<Program> {
  const daemon = stack.use(of.start('start'))
  await daemon.waitForOutput(/daemon started/)
  return daemon
}

function told(): readonly string[] {
  return receiver.received.map(({ payload }) => `${payload.type}: ${payload.data.subject}`)
}

/** The subjects of the mails. */
function mailed(): readonly (string | undefined)[] {
  return mails.received.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1])
}

async function sync(code: number, users: string): Promise<void> {
  await site.write('users.csv', users)
  expect((await site.run('sync', 'corp')).code).toBe(code)
}

test('each question and each failure is notified once, and so is the decision', async () => {
  await startDaemon()
  await sync(0, people(40))
  await sync(3, people(20))
  await expect.poll(told).toEqual(['dirsyncd.asking: corp: 20 questions are open'])
  await sync(3, people(20))
  expect((await site.run('reject', '2', '--all', '--reason', 'ask HR')).code).toBe(0)
  await expect.poll(() => receiver.received.length).toBe(2)
  expect(told()[1]).toMatch(/^dirsyncd\.decided: corp: \S+ rejected run 2$/)
  expect(receiver.received[1]!.payload.data.text).toContain('The reason: ask HR')

  const bad = 1000
  await sync(4, people(40 + bad, bad))
  await expect
    .poll(told)
    .toContain(`dirsyncd.quarantine: corp: the service refuses ${bad.toLocaleString('en-US')} changes`)
  for (let times = 0; times < 4; times++) await sync(1, 'id;mail;name\n"')
  await expect.poll(() => told().at(-1)).toBe('dirsyncd.failing: corp: its runs fail')
  await sync(4, people(40 + bad, bad))

  await expect.poll(() => mails.received.length).toBe(2)
  expect(receiver.received).toHaveLength(4)
  expect([receiver.requests, receiver.refused]).toEqual([4, []])
  expect(mailed()).toEqual(['[dirsyncd] corp: 20 questions are open', '[dirsyncd] corp: its runs fail'])
  const everything = [
    ...receiver.received.map(({ payload }) => payload.data.text),
    ...mails.received.map(({ text }) => text),
  ]
  expect(everything.join('\n')).not.toMatch(/Person|u\d+@/)
})

test('a receiver that was down gets each notification once and in order', async () => {
  receiver.answer = 503
  const daemon = await startDaemon()
  await sync(0, people(40))
  await sync(3, people(20))
  await expect.poll(() => receiver.requests).toBeGreaterThan(1)
  expect((await site.run('reject', '2', '--all')).code).toBe(0)
  daemon.kill('SIGKILL')
  await daemon.ended
  await startDaemon()
  await sync(4, people(45, 5))
  receiver.answer = undefined
  receiver.loseAnswers = true
  await expect.poll(() => receiver.received.length).toBe(1)
  receiver.loseAnswers = false
  await expect.poll(() => receiver.received.length).toBe(3)
  expect(told().map((each) => each.split(':')[0])).toEqual([
    'dirsyncd.asking',
    'dirsyncd.decided',
    'dirsyncd.quarantine',
  ])
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3)
  await expect.poll(() => mails.received.length).toBe(1)
})

test('a daemon that stops sends the mail under way, and the next daemon does not repeat it', async () => {
  const daemon = await startDaemon()
  await sync(0, people(40))
  mails.delayMs = 1500
  await sync(3, people(20))
  await expect.poll(() => mails.received.length).toBe(1)
  daemon.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
  await startDaemon()
  for (let times = 0; times < 3; times++) await sync(1, 'nonsense\n')
  await expect.poll(() => mails.received.length).toBe(2)
  expect(mailed()).toEqual(['[dirsyncd] corp: 20 questions are open', '[dirsyncd] corp: its runs fail'])
})

test('notify --test reports for each channel whether the message arrived', async () => {
  expect(await site.run('notify', '--test')).toMatchObject({
    code: 0,
    stdout: 'ops (webhook): delivered\nmail (email): delivered\n',
  })
  expect(told()).toEqual(['dirsyncd.test: a test'])
  expect(mails.received[0]!.text).toContain('Subject: [dirsyncd] a test')
  receiver.answer = 404
  const { code, stdout } = await site.run('notify', '--test', '--channel', 'ops')
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^ops \(webhook\): not delivered, 127\.0\.0\.1:\d+ answered 404\n$/),
  ])
  expect(await site.run('notify', '--test', '--channel', 'opps')).toMatchObject({
    code: 64,
    stderr: 'There is no channel "opps" to notify: there are ops, mail.\n',
  })
  expect(await site.run('notify')).toMatchObject({ code: 64 })
})
