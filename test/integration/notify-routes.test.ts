import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DaemonFigures } from '../../src/compose/daemon-figures.ts'
import { Notifier } from '../../src/compose/notifier.ts'
import type { Site } from '../../src/compose/site.ts'
import type { ChannelConfig, Config } from '../../src/config/config.ts'
import { testNotifications } from '../../src/compose/test-notifications.ts'
import { createLog } from '../../src/base/log/log.ts'
import { Metrics } from '../../src/ui/metrics/metrics.ts'
import { EVENTS } from '../../src/ui/notify/notification.ts'
import { lookAndStore, waitingDeliveries } from '../../src/operations/notifications.ts'
import { addRun } from '../../src/store/runs.ts'
import { backendNamed, type OpenBackend } from '../support/backends.ts'
import { type MailServer, startMailServer } from '../support/receivers.ts'
import { QUICK } from '../support/times.ts'

const BASE = 'https://access.example.com'
const TARGET = `${BASE}/api/v2/organizations/1/admin/directories/7`

let stack: AsyncDisposableStack
let opened: OpenBackend
let mails: MailServer
/** Whose mailboxes are full. */
let full: Set<string>
let lines: string[]
let metrics: Metrics

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  full = new Set()
  lines = []
  metrics = new Metrics('test')
  const mailboxFull = Object.assign(new Error('the mailbox is full'), { responseCode: 450 })
  mails = stack.use(
    await startMailServer({
      onRcptTo: ({ address }, _session, done) => done(full.has(address) ? mailboxFull : null),
    }),
  )
  opened = await backendNamed('postgres').open()
  stack.defer(() => opened.close())
})

afterEach(() => stack.disposeAsync())

function mail(...to: readonly string[]): ChannelConfig {
  const none = { ca: undefined, user: undefined, password: undefined }
  const server = { host: '127.0.0.1', port: mails.port, security: 'none' as const, ...none }
  return { name: 'mail', type: 'email', events: EVENTS, ...server, from: 'dirsyncd@example.org', to }
}

/** Tells these channels what goes on. */
function open(...channels: readonly ChannelConfig[]) {
  const log = createLog('info', { destination: { write: (line: string) => void lines.push(line) } })
  const { store, backend } = opened
  const site = { store, backend, deviceId: 'device', metrics, log, times: QUICK } as unknown as Site
  const directory = { baseUrl: BASE, organizationId: 1, directoryId: 7, token: { describe: () => 'env T' } }
  const config = {
    syncs: [{ name: 'corp', schedule: undefined, directory, written: {} }],
    retention: { timeMs: 86_400_000 },
    written: {},
    notifications: { failuresInRow: 1, channels },
  } as unknown as Config
  const notifier = new Notifier(site, config.notifications, () => config, new AbortController().signal)
  stack.use(notifier)
  notifier.start()
  return { notifier, figures: new DaemonFigures(site, metrics, () => config) }
}

/** The newest run of the sync ends like this. */
async function run(state: 'failed' | 'done'): Promise<void> {
  const { db } = opened.store
  const id = await addRun(db, { sync: 'corp', target: TARGET, mode: 'sync', trigger: 'demand' })
  await sql`UPDATE dirsyncd.runs SET state = ${state}, started_at = now(), finished_at = now() WHERE run = ${id}`.execute(
    db,
  )
}

/** What waits already, for these keys. */
async function tell(...keys: readonly string[]): Promise<void> {
  const told = { event: 'asking', sync: 'corp', run: 1, subject: 'told before', text: 'text' }
  await lookAndStore(
    opened.store.db,
    ['corp'],
    () => keys,
    async () => ({ conditions: [], notifications: [told] }),
  )
}

function received(by: string): readonly (string | undefined)[] {
  return mails.received
    .filter(({ to }) => to.includes(by))
    .map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1])
}

async function waiting(): Promise<readonly string[]> {
  return (await waitingDeliveries(opened.store.db)).map(
    ({ channel, waiting: count }) => `${channel}: ${count}`,
  )
}

const FAILS = '[dirsyncd] corp: its runs fail'
const RUNS = '[dirsyncd] corp: it runs again'

test('each recipient of a channel has a queue of his own, so that a full mailbox delays nobody else', async () => {
  full.add('Two@example.org')
  await run('failed')
  const { notifier, figures } = open(
    mail('One <one@example.org>', 'Two <Two@example.org>', 'two@example.org'),
  )
  await expect.poll(() => received('one@example.org')).toEqual([FAILS])
  await run('done')
  notifier.look()
  await expect.poll(() => received('one@example.org')).toEqual([FAILS, RUNS])
  await expect.poll(waiting).toEqual(['mail two@example.org: 2'])
  await figures.read()
  const text = await metrics.text()
  expect(text).toContain('dirsyncd_notifications_waiting{channel="mail"} 2')
  expect(text).toContain('dirsyncd_notifications_total{channel="mail",delivery="delivered"} 2')
  full.clear()
  await expect.poll(() => received('Two@example.org')).toEqual([FAILS, RUNS])
  await expect.poll(waiting).toEqual([])
  expect(received('one@example.org')).toHaveLength(2)
  const shown = `${await metrics.text()}${lines.join('')}`
  expect(shown).not.toMatch(/@/)
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ channel: 'mail', recipient: 2, msg: 'a notification waits to be delivered' }),
  )
})

test('what waited for one of several recipients arrives when he is the only one', async () => {
  await tell('mail one@example.org', 'mail two@example.org')
  open(mail('one@example.org'))
  await expect.poll(() => received('one@example.org')).toEqual(['[dirsyncd] told before'])
  await expect.poll(waiting).toEqual([])
  expect(mails.received).toHaveLength(1)
})

test('a test says of each recipient whether it arrived', async () => {
  full.add('two@example.org')
  const channels = [mail('One <one@example.org>', 'two@example.org')]
  const config = { notifications: { channels } } as unknown as Config
  const tested = await Array.fromAsync(testNotifications(config, 'mail', new AbortController().signal))
  const of = { channel: 'mail', type: 'email' }
  expect(tested).toEqual([
    { ...of, recipient: 'one@example.org', delivered: true, detail: null },
    {
      ...of,
      recipient: 'two@example.org',
      delivered: false,
      detail: expect.stringMatching(/^127\.0\.0\.1: .*450 the mailbox is full$/),
    },
  ])
})

test('where the store takes no notification, an error says what it refuses', async () => {
  await run('failed')
  open(mail('one@example.org'), mail('one@example.org'))
  await expect
    .poll(() => lines.map((line) => JSON.parse(line) as object))
    .toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'nobody could be notified',
        constraint: 'deliveries_pkey',
        table: 'deliveries',
      }),
    )
})
