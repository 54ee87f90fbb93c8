import type { Readable } from 'node:stream'

const KEPT_BYTES = 8192
const SHOWN_LINES = 5
const SHOWN_CHARACTERS = 600

/** The end of what a program said on standard error; everything before it is forgotten. */
export interface Tail {
  /** ` and said: "…"` with the last lines, or nothing. */
  inWords(): string
}

/** Reads the stream to its end, whatever comes, and keeps the last few lines, in which no secret is shown. */
export function createTail(stream: Readable, secrets: readonly string[]): Tail {
  const most = KEPT_BYTES + Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)))
  let kept = Buffer.alloc(0)
  let isCut = false
  stream.on('data', (chunk: Buffer) => {
    isCut ||= kept.length + chunk.length > most
    kept = Buffer.concat([kept, chunk]).subarray(-most)
  })
  stream.on('error', () => undefined)
  return {
    inWords() {
      const text = kept.toString('utf8')
      const whole = isCut ? withoutEnd(text, secrets) : text
      const lines = withoutSecrets(whole, secrets).split(/[\r\n]+/)
      const last = lines.map((line) => line.trim()).filter((line) => line !== '')
      const shown = last.slice(-SHOWN_LINES).join(' / ').slice(-SHOWN_CHARACTERS)
      return shown === '' ? '' : ` and said: ${oneLine(shown)}`
    },
  }
}

/** The text without the end of a secret that it may begin with, because what stood before is forgotten. */
function withoutEnd(text: string, secrets: readonly string[]): string {
  // The first character may be cut itself.
  const starts = [text, text.replace(/^\ufffd+/, '')]
  const ends = secrets.flatMap((secret) => Array.from(secret, (_, at) => secret.slice(at)))
  for (const end of ends.toSorted((a, b) => b.length - a.length)) {
    const start = starts.find((each) => each.startsWith(end))
    if (start !== undefined && end !== '') return start.slice(end.length)
  }
  return text
}

/** Without line breaks, escapes and other controls. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

/** Takes out the given values and the passwords of URLs. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text.replace(/(:\/\/[^\s:/@]*:)[^\s/]+@/g, '$1***@')
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret !== '') clean = clean.replaceAll(secret, '***')
  }
  return clean
}
