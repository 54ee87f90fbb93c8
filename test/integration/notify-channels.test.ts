import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEmail, type EmailOptions } from '../../src/ui/notify/channels/email.ts'
import { createSlack } from '../../src/ui/notify/channels/slack.ts'
import { createWebhook } from '../../src/ui/notify/channels/webhook.ts'
import { Poster } from '../../src/ui/notify/post.ts'
import { tryDelivery } from '../../src/ui/notify/deliver.ts'
import type { Channel } from '../../src/ui/notify/channel.ts'
import { TIMES } from '../../src/queue/times.ts'
import { makeCertificates } from '../support/certificates.ts'
import { startMailServer, startWebhookReceiver, type WebhookReceiver } from '../support/receivers.ts'
import { freePort } from '../support/server-process.ts'
import { tempDir } from '../support/temp.ts'

const SECRET = `whsec_${randomBytes(32).toString('base64')}`
const NEVER = new AbortController().signal
const TOLD = {
  id: 'dirsyncd-1-7',
  createdAt: new Date('2026-11-26T13:00:00Z'),
  event: 'asking',
  sync: 'corp',
  run: 12,
  subject: 'corp: 40 questions are open',
  text: 'Run 12 of the sync corp asks & waits.\n\ndirsyncd runs 12 shows <it>.',
} as const

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

let stack: AsyncDisposableStack

beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

/** Tries once, after so many attempts, what is so old. */
function attempt(channel: Channel, { attempts = 1, createdAt = new Date() } = {}) {
  return tryDelivery(channel, { ...TOLD, attempts, createdAt }, TIMES.notify, NEVER)
}

describe('a webhook', () => {
  let receiver: WebhookReceiver

  beforeEach(async () => {
    receiver = stack.use(await startWebhookReceiver(SECRET))
  })

  function webhook(url = receiver.url, secret = SECRET): Channel {
    return stack.use(createWebhook({ url, secret: async () => secret, ca: undefined, proxy: undefined }))
  }

  test('is verified with the secret, and is the same at every attempt', async () => {
    await webhook().send(TOLD, NEVER)
    await webhook().send(TOLD, NEVER)
    expect(receiver.received).toEqual([
      {
        id: TOLD.id,
        payload: {
          type: 'dirsyncd.asking',
          timestamp: '2026-11-26T13:00:00.000Z',
          data: { sync: 'corp', run: 12, subject: TOLD.subject, text: TOLD.text },
        },
      },
    ])
    expect(receiver.requests).toBe(2)
  })

  test('with another secret is refused, and says where without the path of the URL', async () => {
    const other = `whsec_${randomBytes(32).toString('base64')}`
    const tried = await attempt(webhook(receiver.url, other))
    expect(tried).toMatchObject({
      state: 'waiting',
      delivery: 'failed',
      detail: expect.stringMatching(/^127\.0\.0\.1:\d+ answered 400$/),
    })
    expect(receiver.refused).toEqual([expect.stringContaining('No matching signature')])
    expect(await attempt(webhook(receiver.url, other), { attempts: 10 })).toMatchObject({ state: 'given-up' })
  })

  test('that is replayed later is refused by its time', async () => {
    const body = '{}'
    const seconds = Math.floor(Date.now() / 1000) - 600
    const key = Buffer.from(SECRET.slice(6), 'base64')
    const signed = createHmac('sha256', key).update(`old.${seconds}.${body}`).digest('base64')
    const headers = {
      'webhook-id': 'old',
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${signed}`,
    }
    expect((await fetch(receiver.url, { method: 'POST', headers, body })).status).toBe(400)
    expect(receiver.refused).toEqual([expect.stringContaining('timestamp too old')])
  })

  test.each([
    ['a redirect', 302, 'given-up'],
    ['an unknown address', 404, 'given-up'],
    ['too many requests', 429, 'waiting'],
    ['an error of the receiver', 500, 'waiting'],
    ['a broken connection', 0, 'waiting'],
  ])('that gets %s is tried again, and given up where that means no', async (_what, status, atLast) => {
    receiver.answer = status
    Object.assign(receiver.headers, { location: 'http://127.0.0.1:1/', 'retry-after': '120' })
    const first = await attempt(webhook())
    expect(first).toMatchObject({ state: 'waiting', delivery: 'failed' })
    expect(first.waitMs).toBeGreaterThanOrEqual(status === 0 ? 7500 : 120_000)
    expect(await attempt(webhook(), { attempts: 10 })).toMatchObject({ state: atLast })
    expect(receiver.requests).toBe(2)
  })

  test('waits longer with each attempt, half an hour at most, and for three days', async () => {
    const url = `http://127.0.0.1:${await freePort()}/hook?key=in-the-url`
    const waits: number[] = []
    for (let attempts = 1; attempts < 20; attempts++) {
      const { waitMs = 0, detail } = await attempt(webhook(url), { attempts })
      expect(detail).toMatch(/^127\.0\.0\.1:\d+ does not answer: connection refused$/)
      waits.push(waitMs)
    }
    expect(waits[0]).toBeGreaterThanOrEqual(7500)
    expect(waits[0]).toBeLessThanOrEqual(10_000)
    expect(waits[3]).toBeGreaterThan(waits[0]! * 5)
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_800_000)
    const threeDays = new Date(Date.now() - 3 * 86_400_000)
    expect(await attempt(webhook(url), { createdAt: threeDays })).toMatchObject({ state: 'given-up' })
  })

  test.each(['whsec_short', 'hunter2 hunter2 hunter2 hunter2', ''])(
    'needs a secret that is one: %j',
    async (secret) => {
      const tried = await attempt(webhook(receiver.url, secret))
      expect(tried.detail).toMatch(
        /^The secret of a webhook must be whsec_ and the base64 of 24 bytes or more/,
      )
      expect(tried.detail).not.toContain('hunter2')
      expect(receiver.requests).toBe(0)
    },
  )
})

test('a receiver that takes the request and answers nothing is left after a while, in words', async () => {
  const silent = createHttpServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  stack.defer(() => (silent.closeAllConnections(), void silent.close()))
  const { port } = silent.address() as { port: number }
  const poster = stack.use(new Poster({ ca: undefined, proxy: undefined }, 200))
  const message = { url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' }
  await expect(poster.post(message, NEVER)).rejects.toThrow(
    `127.0.0.1:${port} does not answer: nothing within 0.2 s`,
  )
})

test.each(['hooks/T0/s3cret', 'http://chat.example.org/T0/s3cret', 'ftp://127.0.0.1/s3cret', ''])(
  'the URL of a chat is a secret that goes nowhere in the clear: %j',
  async (url) => {
    const chat = stack.use(createSlack({ url: async () => url, ca: undefined, proxy: undefined }))
    expect((await attempt(chat)).detail).toBe('The secret of the channel must be an https URL.')
  },
)

test('a chat gets one text in which nothing is a link or a mention', async () => {
  const receiver = stack.use(await startWebhookReceiver(SECRET))
  receiver.answer = 200
  const chat = stack.use(createSlack({ url: async () => receiver.url, ca: undefined, proxy: undefined }))
  await chat.send({ ...TOLD, text: '<!channel> & <https://evil.example>' }, NEVER)
  expect(JSON.parse(receiver.body)).toEqual({
    text: '*[dirsyncd] corp: 40 questions are open*\n&lt;!channel&gt; &amp; &lt;https://evil.example&gt;',
  })
})

describe('an e-mail', () => {
  const options: EmailOptions = {
    host: '127.0.0.1',
    port: 0,
    security: 'none',
    ca: undefined,
    user: undefined,
    password: undefined,
    from: 'dirsyncd <dirsyncd@example.org>',
    to: ['Operations <ops@example.org>', 'boss@example.org'],
  }

  function email(more: Partial<EmailOptions>, recipient = 'ops@example.org'): Channel {
    return stack.use(createEmail({ ...options, ...more }, recipient))
  }

  test('is received as it was written, once for each attempt, with the same number', async () => {
    const server = stack.use(await startMailServer())
    for (let times = 0; times < 2; times++) await email({ port: server.port }).send(TOLD, NEVER)
    const [mail, again] = server.received
    expect(mail).toMatchObject({
      from: 'dirsyncd@example.org',
      to: ['ops@example.org'],
      secure: false,
      user: undefined,
    })
    expect(mail!.text).toContain('Subject: [dirsyncd] corp: 40 questions are open')
    expect(mail!.text).toContain('Run 12 of the sync corp asks & waits.\r\n\r\ndirsyncd runs 12 shows <it>.')
    expect(mail!.text).toContain('To: Operations <ops@example.org>, boss@example.org')
    expect(mail!.text).toContain('Auto-Submitted: auto-generated')
    const number = /^Message-ID: (.*)$/im
    expect(number.exec(mail!.text)?.[1]).toBe('<dirsyncd-1-7@example.org>')
    expect(number.exec(again!.text)?.[1]).toBe('<dirsyncd-1-7@example.org>')
  })

  test.each(['starttls', 'tls'] as const)(
    'is encrypted with %s, and says nothing where it cannot be',
    async (security) => {
      const dir = stack.use(await tempDir())
      const { caFile, certFile, keyFile } = await makeCertificates(dir.path, '127.0.0.1')
      const login = ['dirsyncd', 'smtp-s3cret'] as const
      const server = stack.use(
        await startMailServer({
          cert: read(certFile),
          key: read(keyFile),
          secure: security === 'tls',
          login,
        }),
      )
      const secure = { port: server.port, security, user: login[0] }
      const ca = read(caFile)
      await email({ ...secure, ca, password: async () => login[1] }).send(TOLD, NEVER)
      expect(server.received).toMatchObject([{ secure: true, user: 'dirsyncd' }])

      const untrusted = await attempt(email({ ...secure, password: async () => login[1] }))
      expect(untrusted.detail).toMatch(
        /^127\.0\.0\.1 does not answer: its certificate (comes from an authority that|is self-signed and) .*not trusted here$/,
      )
      const wrong = await attempt(email({ ...secure, ca, password: async () => 'wr0ng-pass' }))
      expect(wrong).toMatchObject({ state: 'waiting', detail: '127.0.0.1: the login is refused (535)' })
      const plain = stack.use(await startMailServer())
      const refused = await attempt(email({ port: plain.port, security, ca }))
      expect(refused.state).toBe('waiting')
      expect([server.received.length, plain.received.length]).toEqual([1, 0])
    },
  )

  test('to an unknown recipient is given up after some attempts', async () => {
    const server = stack.use(await startMailServer())
    const channel = email({ port: server.port }, 'nobody@example.org')
    expect(await attempt(channel)).toMatchObject({
      state: 'waiting',
      detail: expect.stringContaining('no such user here'),
    })
    expect(await attempt(channel, { attempts: 10 })).toMatchObject({ state: 'given-up' })
  })

  test.each(['login', 'mail'])('to a server that repeats the password at the %s hides it', async (where) => {
    const password = 'smtp-s3cret'
    const plain = Buffer.from(`\0dirsyncd\0${password}`).toString('base64')
    const alone = Buffer.from(password).toString('base64')
    const repeats = new Error(`AUTH PLAIN ${plain}, ${alone}, ${password}`)
    const server = stack.use(
      await startMailServer({
        allowInsecureAuth: true,
        onAuth: (_login, _session, done) => (where === 'login' ? done(repeats) : done(null, { user: 'u' })),
        onMailFrom: (_address, _session, done) => done(repeats),
      }),
    )
    const tried = await attempt(
      email({ port: server.port, user: 'dirsyncd', password: async () => password }),
    )
    expect(tried.detail).toBe(
      where === 'login'
        ? '127.0.0.1: the login is refused (535)'
        : '127.0.0.1: Mail command failed: 550 AUTH PLAIN <masked>, <masked>, <masked>',
    )
  })

  test('to a server that says nothing ends when the daemon does', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    stack.defer(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const closing = new AbortController()
    const trying = tryDelivery(email({ port }), { ...TOLD, attempts: 1 }, TIMES.notify, closing.signal)
    closing.abort(new Error('the daemon stops'))
    expect(await trying).toMatchObject({ state: 'waiting', waitMs: 0 })
  })
})
