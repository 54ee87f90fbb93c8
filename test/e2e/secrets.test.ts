import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { type PostgresServer, runSql, startPostgres } from '../support/postgres.ts'
import type { Program } from '../support/program.ts'
import { textsOfRedis, textsOfStore } from '../support/queue-texts.ts'
import {
  type MailServer,
  startMailServer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/receivers.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { freePort } from '../support/server-process.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { BASE, peopleSections, type Slapd, startSlapd } from '../support/slapd.ts'
import { directorySection } from '../support/sync-config.ts'

/** One of each kind, by its file; the token and the reader's password are those of the servers. */
const SECRETS = {
  store: 'pl4nted-store-password',
  queue: 'pl4nted-queue-password',
  admin: 'pl4nted-admin-token',
  wrong: 'pl4nted-wrong-ldap-password',
  smtp: 'pl4nted-smtp-password',
  webhook: `whsec_${randomBytes(32).toString('base64')}`,
  token: FIXTURE.token,
  env: 'pl4nted-in-a-variable',
}

const stack = new AsyncDisposableStack()
let slapd: Slapd
let postgres: PostgresServer
let redis: RedisServer
let service: ServiceSite
let site: Site
let receiver: WebhookReceiver
let chat: WebhookReceiver
let mails: MailServer
let address: string
let daemon: Program
let worker: Program
let monitored: string[]

beforeAll(async () => {
  slapd = await startSlapd({ people: 30, groups: 3 })
  stack.defer(() => slapd.close())
  postgres = await startPostgres()
  stack.defer(() => postgres.close())
  redis = await startRedis({ args: ['--requirepass', SECRETS.queue] })
  stack.defer(() => redis.close())
  service = stack.use(await startServiceSite())
  receiver = stack.use(await startWebhookReceiver(SECRETS.webhook))
  chat = stack.use(await startWebhookReceiver(SECRETS.webhook))
  chat.answer = 200
  mails = stack.use(await startMailServer({ allowInsecureAuth: true, login: ['dirsyncd', SECRETS.smtp] }))
  site = stack.use(await openSite({ env: { PLANTED_TOKEN: SECRETS.env } }))
  for (const [name, secret] of Object.entries(SECRETS)) await site.write(`${name}.secret`, secret)
  await site.write('ldap.secret', slapd.readers.reader.password)
  await site.write('chat.secret', chat.url)
  await site.configure(await configuration())
  monitored = await monitor()
  daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  worker = stack.use(site.start('worker'))
  await worker.waitForOutput(/worker started/)
})
afterAll(() => stack.disposeAsync())

function file(name: keyof typeof SECRETS | 'ldap' | 'chat'): { file: string } {
  return { file: `./${name}.secret` }
}

function directory(directoryId: number, token: object): object {
  return directorySection(service, { directoryId, token, allowedDomains: undefined })
}

async function configuration(): Promise<object> {
  address = `127.0.0.1:${await freePort()}`
  const database = await postgres.createDatabase('planted')
  await runSql(postgres.url, `create role locked login superuser password '${SECRETS.store}'`)
  const { dn } = slapd.readers.reader
  const ldap = (password: object) => ({
    type: 'ldap',
    url: slapd.url,
    bind: { dn, password, allowPlainText: true },
    ...peopleSections(BASE),
  })
  return {
    dataDir: './data',
    store: database.replace('postgres@', 'locked@'),
    storePassword: file('store'),
    queue: redis.url,
    queuePassword: file('queue'),
    admin: { listen: address, token: file('admin') },
    log: { level: 'debug', people: true },
    notifications: {
      failuresInRow: 1,
      channels: [
        { name: 'ops', type: 'webhook', url: receiver.url, secret: file('webhook') },
        { name: 'chat', type: 'slack', url: file('chat') },
        {
          name: 'mail',
          type: 'email',
          host: '127.0.0.1',
          port: mails.port,
          security: 'none',
          user: 'dirsyncd',
          password: file('smtp'),
          from: 'dirsyncd@example.org',
          to: ['ops@example.org'],
        },
      ],
    },
    syncs: [
      { name: 'corp', source: ldap(file('ldap')), directory: directory(7, file('token')) },
      { name: 'no-login', source: ldap(file('wrong')), directory: directory(8, file('token')) },
      { name: 'no-token', source: ldap(file('ldap')), directory: directory(9, { env: 'PLANTED_TOKEN' }) },
    ],
  }
}

/** Every command that Redis gets from now on. */
async function monitor(): Promise<string[]> {
  const lines: string[] = []
  const client = new Redis(redis.url, { password: SECRETS.queue })
  stack.defer(() => client.disconnect())
  const watching = await client.monitor()
  stack.defer(() => watching.disconnect())
  watching.on('monitor', (_time: unknown, args: string[]) => lines.push(args.join(' ')))
  return lines
}

/** The command lines of a process and of those that it has started, now. */
function commandLines(pid: number): readonly string[] {
  const parents = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return parents.flatMap((each) => {
    try {
      const stat = readFileSync(`/proc/${each}/stat`, 'utf8')
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
      if (each !== String(pid) && parent !== String(pid)) return []
      return [readFileSync(`/proc/${each}/cmdline`, 'utf8')]
    } catch {
      return []
    }
  })
}

async function textsOf(path: string): Promise<string> {
  const answer = await fetch(`http://${address}${path}`, {
    headers: { authorization: `Bearer ${SECRETS.admin}` },
  })
  expect(answer.status).toBe(200)
  return `${JSON.stringify([...answer.headers])}${await answer.text()}`
}

const SYNC_PAGES = [
  '/',
  '/runs',
  '/quarantine',
  '/syncs/corp',
  '/syncs/no-token',
  '/syncs/no-login',
  '/sign-in',
]
const RUN_PAGES = ['', '/undo', '/notices', '/changes/1', '/changes.json', '/notices.csv']
const PAGES = [...SYNC_PAGES, ...RUN_PAGES.map((page) => `/runs/1${page}`)]

/** Each place, and all that somebody reads there. */
async function places(): Promise<ReadonlyMap<string, string>> {
  const client = new Redis(redis.url, { password: SECRETS.queue })
  const pool = new Pool({ connectionString: postgres.url.replace(/postgres$/, 'planted') })
  try {
    const run = await site.run('bundle', '-')
    return new Map([
      ['the output and log of the daemon', daemon.output()],
      ['the output and log of the worker', worker.output()],
      ['the command lines', [...commandLines(daemon.pid), ...commandLines(worker.pid)].join('\n')],
      ['the pages', (await Promise.all(PAGES.map(textsOf))).join('\n')],
      ['the metrics', await textsOf('/metrics')],
      ['the readiness', await textsOf('/readyz')],
      ['the webhook', [...receiver.received, receiver.body].map((each) => JSON.stringify(each)).join('\n')],
      ['the chat', chat.body],
      ['the mails', mails.received.map(({ text }) => text).join('\n')],
      ['the store', (await textsOfStore(pool, 'dirsyncd')).join('\n')],
      ['the queue', (await textsOfRedis(client)).join('\n')],
      ['what the queue was told', monitored.join('\n')],
      ['the bundle with the printed configuration', run.stdout + run.stderr],
      [
        'the runs',
        JSON.stringify(
          await Promise.all([site.json('runs'), site.json('runs', '1'), site.json('runs', '2')]),
        ),
      ],
      [
        'what a check says',
        JSON.stringify(await Promise.all([site.run('check'), site.run('notify', '--test')])),
      ],
    ])
  } finally {
    client.disconnect()
    await pool.end()
  }
}

test('no secret of any kind is found in logs, metrics, pages, notifications, store, queue, configuration or processes', async () => {
  for (const sync of ['corp', 'no-login', 'no-token']) await site.run('sync', sync)
  daemon.kill('SIGUSR2')
  await daemon.waitForOutput(/"msg":"the log has another level now"/)
  daemon.kill('SIGUSR2')
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(2)
  await expect.poll(() => mails.received.length).toBeGreaterThanOrEqual(2)
  await expect.poll(() => chat.requests).toBeGreaterThanOrEqual(2)

  const all = await places()
  expect(all.get('the output and log of the daemon')).toContain('"level":"debug"')
  expect(all.get('the store')).toContain('no-token')
  expect(all.get('the mails')).toContain('its runs fail')
  const secrets = [...Object.values(SECRETS), slapd.readers.reader.password, new URL(chat.url).search]
  for (const [place, text] of all) {
    expect(text.length).toBeGreaterThan(10)
    for (const secret of secrets) {
      const forms = [
        secret,
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
        encodeURIComponent(secret),
      ]
      const found = forms.filter((form) => text.includes(form))
      expect([place, found]).toEqual([place, []])
    }
  }
})

test('who may read the store with its password still cannot read the secrets there', async () => {
  const client = new Client({ connectionString: postgres.url.replace(/postgres$/, 'planted') })
  await client.connect()
  const { rows } = await client.query(`SELECT name FROM dirsyncd.settings ORDER BY name`)
  await client.end()
  const others = rows.filter(({ name }) => !/^notified-decisions [a-z-]+$/.test(name))
  expect(others).toEqual([{ name: 'device-id' }])
})
