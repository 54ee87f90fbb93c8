import type { Readable } from 'node:stream'

const KEPT_BYTES = 8192
const SHOWN_LINES = 5
const SHOWN_CHARACTERS = 600

/** Keeps the last few lines. Returns ` and said: "…"` with them, without secrets, or nothing. */
export function createTail(stream: Readable, secrets: readonly string[]): () => string {
  const longest = Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)))
  const most = KEPT_BYTES + longest
  let kept = Buffer.alloc(0)
  let isCut = false
  stream.on('data', (chunk: Buffer) => {
    isCut ||= kept.length + chunk.length > most
    kept = Buffer.concat([kept, chunk]).subarray(-most)
  })
  stream.on('error', () => undefined)
  return () => {
    const text = withoutSecrets(kept.toString('utf8'), secrets)
    // A cut text may begin with the end of a secret.
    const lines = text.slice(isCut ? longest : 0).split(/[\r\n]+/)
    const last = lines.map((line) => line.trim()).filter((line) => line !== '')
    const shown = last.slice(-SHOWN_LINES).join(' / ').slice(-SHOWN_CHARACTERS)
    return shown === '' ? '' : ` and said: ${oneLine(shown)}`
  }
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
