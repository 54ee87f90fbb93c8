import type { Channel } from '../channel.ts'
import { Poster, type PostOptions } from '../post.ts'

export interface SlackOptions extends PostOptions {
  /** Reads the URL, which is all that the receiver asks for. */
  readonly url: () => Promise<string>
}

/** Sends to an incoming webhook of Slack, or of another chat that takes the same. */
export function createSlack({ url, ...options }: SlackOptions): Channel {
  const poster = new Poster(options)
  return {
    async send({ subject, text }, signal) {
      const body = JSON.stringify({ text: `*${escaped(`[dirsyncd] ${subject}`)}*\n${escaped(text)}` })
      await poster.post({ url: await url(), headers: {}, body }, signal)
    },
    [Symbol.asyncDispose]: () => poster[Symbol.asyncDispose](),
  }
}

/** Nothing in it is a link or a mention. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
