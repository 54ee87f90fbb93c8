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
  let kept = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-KEPT_BYTES)
  })
  stream.on('error', () => undefined)
  return {
    inWords() {
      const lines = withoutSecrets(kept.toString('utf8'), secrets).split(/[\r\n]+/)
      const last = lines.map((line) => line.trim()).filter((line) => line !== '')
      const text = last.slice(-SHOWN_LINES).join(' / ').slice(-SHOWN_CHARACTERS)
      return text === '' ? '' : ` and said: ${text}`
    },
  }
}

/** Takes out the given values and the passwords of URLs. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text.replace(/(:\/\/[^\s:/@]*:)[^\s/]+@/g, '$1***@')
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret !== '') clean = clean.replaceAll(secret, '***')
  }
  return clean
}
