import type { Readable } from 'node:stream'

const KEPT_BYTES = 8192
const SHOWN_LINES = 5
const SHOWN_CHARACTERS = 600

export interface Tail {
  /** ` and said: "…"` with the last lines, or nothing. */
  describe(): string
}

/** Keeps the last few lines, without secrets. */
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
    describe() {
      const text = kept.toString('utf8')
      const whole = isCut ? withoutCutSecret(text, secrets) : text
      const lines = withoutSecrets(whole, secrets).split(/[\r\n]+/)
      const last = lines.map((line) => line.trim()).filter((line) => line !== '')
      const shown = last.slice(-SHOWN_LINES).join(' / ').slice(-SHOWN_CHARACTERS)
      return shown === '' ? '' : ` and said: ${oneLine(shown)}`
    },
  }
}

/** Removes the end of a secret from the beginning of a cut text. */
function withoutCutSecret(text: string, secrets: readonly string[]): string {
  // The cut may also have split the first character.
  const starts = [text, text.replace(/^\ufffd+/, '')]
  const ends = secrets.flatMap((secret) => Array.from(secret, (_, at) => secret.slice(at)))
  for (const end of ends.toSorted((a, b) => b.length - a.length)) {
    const start = starts.find((each) => each.startsWith(end))
    if (start !== undefined && end !== '') return start.slice(end.length)
  }
  return text
}

export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

/** Replaces the given values and the passwords of URLs with `***`. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text.replace(/(:\/\/[^\s:/@]*:)[^\s/]+@/g, '$1***@')
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret !== '') clean = clean.replaceAll(secret, '***')
  }
  return clean
}
