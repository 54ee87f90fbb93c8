import type { ChannelConfig } from '../config/config.ts'
import type { Channel } from '../ui/notify/channel.ts'
import { addressOf, createEmail } from '../ui/notify/channels/email.ts'
import { createSlack } from '../ui/notify/channels/slack.ts'
import { createWebhook } from '../ui/notify/channels/webhook.ts'

interface Recipient {
  readonly address: string
  /** Its place in the configured list, from 1. */
  readonly number: number
}

/** A way to one receiver, with an order and attempts of its own: a full mailbox delays nobody else. */
export interface Route {
  /** The channel in logs and metrics, which hold no address. */
  readonly channel: string
  /** What waits is stored under it. */
  readonly key: string
  /** Of a channel with several recipients. */
  readonly recipient: Recipient | undefined
  readonly open: () => Channel
}

/** The routes of a channel: one, or one to each recipient of its e-mail. */
export function routesOf(config: ChannelConfig): readonly Route[] {
  const { name: channel } = config
  const alone = { channel, key: channel, recipient: undefined }
  if (config.type === 'webhook') return [{ ...alone, open: () => createWebhook(config) }]
  if (config.type === 'slack') return [{ ...alone, open: () => createSlack(config) }]
  const recipients = recipientsOf(config.to)
  return [...recipients].map(([lower, recipient]) => ({
    channel,
    key: `${channel} ${lower}`,
    recipient: recipients.size > 1 ? recipient : undefined,
    open: () => createEmail(config, recipient.address),
  }))
}

/** By their addresses in small letters, each once: a store has no two deliveries of one key. */
function recipientsOf(to: readonly string[]): ReadonlyMap<string, Recipient> {
  const recipients = new Map<string, Recipient>()
  for (const [index, address] of to.map(addressOf).entries())
    if (!recipients.has(address.toLowerCase()))
      recipients.set(address.toLowerCase(), { address, number: index + 1 })
  return recipients
}

/** The channel whose route has this key. */
export function channelOfKey(key: string): string {
  return key.split(' ', 1)[0]!
}
