import { createHmac } from 'node:crypto'
import { DirsyncdError } from '../../../base/errors.ts'
import type { Channel } from '../channel.ts'
import type { Delivered } from '../notification.ts'
import { Poster, type PostOptions } from '../post.ts'

export interface WebhookOptions extends PostOptions {
  readonly url: string
  /** `whsec_` and base64. */
  readonly secret: () => Promise<string>
}

/** Signed JSON, see https://www.standardwebhooks.com. */
export function createWebhook({ url, secret, ...options }: WebhookOptions): Channel {
  const poster = new Poster(options)
  return {
    async send(notification, signal) {
      const body = JSON.stringify(payloadOf(notification))
      const seconds = Math.floor(Date.now() / 1000)
      const headers = signatureOf(await secret(), notification.id, seconds, body)
      await poster.post({ url, headers, body }, signal)
    },
    [Symbol.asyncDispose]: () => poster[Symbol.asyncDispose](),
  }
}

function payloadOf({ event, createdAt, sync, run, subject, text }: Delivered): object {
  return {
    type: `dirsyncd.${event}`,
    timestamp: createdAt.toISOString(),
    data: { sync, run, subject, text },
  }
}

function signatureOf(
  secret: string,
  id: string,
  seconds: number,
  body: string,
): Readonly<Record<string, string>> {
  const signed = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signed}` }
}

/** Shorter keys can be guessed. */
const SHORTEST_KEY = 24

function keyOf(secret: string): Buffer {
  const encoded = secret.replace(/^whsec_/, '')
  const key = Buffer.from(encoded, 'base64')
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && key.length >= SHORTEST_KEY) return key
  throw new DirsyncdError(
    'config-invalid',
    `The secret of a webhook must be whsec_ and the base64 of ${SHORTEST_KEY} bytes or more: printf whsec_%s "$(openssl rand -base64 32)" makes one.`,
  )
}
