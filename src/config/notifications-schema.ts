import { z } from 'zod'
import { EVENTS } from '../ui/notify/notification.ts'
import { path, secret, text, url } from '../base/yaml/values.ts'

const events = z
  .array(z.enum(EVENTS, { error: `must be one of ${EVENTS.join(', ')}` }))
  .min(1, { error: 'must name an event; leave it out for all of them' })
  .default([...EVENTS])
  .describe('Events that the channel gets. Left out: all.')

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,40}$/, {
    error: 'must be 1 to 41 small letters, digits and hyphens, and begin with a letter or digit',
  })
  .meta({ title: 'name' })
  .describe('Name of the channel in commands, logs and metrics.')

const ca = path
  .optional()
  .describe('PEM file with the CA of the receiver. Left out: the CAs of Node and of this machine.')

const proxy = url(['http', 'https'], { password: 'leave it out' })
  .optional()
  .describe('HTTP proxy that connects to the receiver (CONNECT), unless NO_PROXY names its host.')

const webhook = z
  .strictObject({
    name,
    type: z.literal('webhook'),
    url: url(['http', 'https'], { password: 'the secret goes into secret: { file: PATH }' }).describe(
      'Receives signed JSON, as standardwebhooks.com says.',
    ),
    secret: secret.describe(
      'Where the signing key is, as printf whsec_%s "$(openssl rand -base64 32)" makes one.',
    ),
    ca,
    proxy,
    events,
  })
  .describe('JSON to a program of your own, signed.')

const slack = z
  .strictObject({
    name,
    type: z.literal('slack'),
    url: secret.describe(
      'Where the https URL of the incoming webhook is. It is a secret: it grants write access to the chat.',
    ),
    ca,
    proxy,
    events,
  })
  .describe('A chat that takes the incoming webhooks of Slack.')

const mailAddress = z
  .string()
  .regex(/^(?:[^<>@\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/, {
    error: 'must be an e-mail address, such as ops@example.org or dirsyncd <dirsyncd@example.org>',
  })
  .meta({ title: 'e-mail address' })

const email = z
  .strictObject({
    name,
    type: z.literal('email'),
    host: text.describe('The mail server (SMTP).'),
    port: z.int().min(1).max(65_535).default(587).describe('Port of the mail server.'),
    security: z
      .enum(['starttls', 'tls', 'none'])
      .default('starttls')
      .describe(
        'starttls encrypts before anything is said, tls from the first byte (often port 465), none never: with a ' +
          'password only for a server on this machine.',
      ),
    ca,
    user: text.optional().describe('Login at the mail server, if it needs one.'),
    password: secret.optional().describe('Password of this login.'),
    from: mailAddress.describe('The sender.'),
    to: z
      .array(mailAddress)
      .min(1, { error: 'must name a receiver' })
      .describe('The receivers; each gets a separate mail.'),
    events,
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    error: 'needs both user and password, or none of them',
  })
  .describe('E-mail.')

export const notifications = z
  .strictObject({
    failuresInRow: z.int().min(1).default(3).describe('Failed runs in a row before a notification.'),
    channels: z
      .array(
        z.discriminatedUnion('type', [webhook, slack, email], {
          error: ({ code }) => (code === 'invalid_union' ? 'must be webhook, slack or email' : undefined),
        }),
      )
      .default([])
      .describe('Where notifications go.'),
  })
  .prefault({})
  .describe('Notifications of the daemon when a person is needed.')
