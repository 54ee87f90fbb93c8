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

/** One receiver with its own order and attempts, so that a full mailbox delays no other receiver. */
export interface Route {
  /** For logs and metrics, which hold no address. */
  readonly channel: string
  /** The store's key. */
  readonly key: string
  /** Of a channel with several recipients. */
  readonly recipient: Recipient | undefined
  readonly open: () => Channel
}

/** One, or one for each recipient of an e-mail channel. */
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

/** By lower-case address, each once: keys are unique in the store. */
function recipientsOf(to: readonly string[]): ReadonlyMap<string, Recipient> {
  const recipients = new Map<string, Recipient>()
  for (const [index, address] of to.map(addressOf).entries())
    if (!recipients.has(address.toLowerCase()))
      recipients.set(address.toLowerCase(), { address, number: index + 1 })
  return recipients
}

export function channelOfKey(key: string): string {
  return key.split(' ', 1)[0]!
}
