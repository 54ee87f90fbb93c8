import { DirsyncdError } from '../../../base/errors.ts'
import type { Channel } from '../channel.ts'
import { Poster, type PostOptions } from '../post.ts'
import { isThisMachine } from '../../../base/this-machine.ts'

export interface SlackOptions extends PostOptions {
  /** The URL is the only credential. */
  readonly url: () => Promise<string>
}

export function createSlack({ url, ...options }: SlackOptions): Channel {
  const poster = new Poster(options)
  return {
    async send({ subject, text }, signal) {
      const body = JSON.stringify({ text: `*${escaped(`[dirsyncd] ${subject}`)}*\n${escaped(text)}` })
      await poster.post({ url: checked(await url()), headers: {}, body }, signal)
    },
    [Symbol.asyncDispose]: () => poster[Symbol.asyncDispose](),
  }
}

/** Anyone who has the URL can post, so no message shows it. */
function checked(url: string): string {
  const parsed = URL.parse(url)
  const isPrivate =
    parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isThisMachine(parsed.hostname))
  if (isPrivate) return url
  throw new DirsyncdError('config-invalid', 'The secret of the channel must be an https URL.')
}

/** Prevents links and mentions. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
