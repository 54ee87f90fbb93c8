/** A longer length means that the peer does not speak LDAP. */
const LONGEST_MESSAGE = 256 * 1024 * 1024

/** Takes a whole message: its content is in these bytes, from `start` up to `end`. */
export type OnMessage = (bytes: Buffer, start: number, end: number) => void

/** Cuts the bytes of a connection into whole LDAP messages. */
export interface Framer {
  /** Passes on the messages that are now whole. Throws when it cannot be LDAP. */
  push(chunk: Buffer): void
  readonly partial: boolean
}

/** Chunks are joined only when a message is whole: a group with a million members would be copied hundreds of times. */
export function createFramer(onMessage: OnMessage): Framer {
  let chunks: Buffer[] = []
  let held = 0
  let needed = 0

  function take(): void {
    const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, held)
    let at = 0
    for (;;) {
      const header = headerAt(bytes, at)
      needed = header === undefined ? 0 : header.length + header.content
      if (header === undefined || bytes.length - at < needed) break
      onMessage(bytes, at + header.length, at + needed)
      at += needed
    }
    const rest = bytes.subarray(at)
    chunks = rest.length > 0 ? [rest] : []
    held = rest.length
  }

  return {
    push(chunk) {
      chunks.push(chunk)
      held += chunk.length
      if (held >= needed) take()
    },
    get partial() {
      return held > 0
    },
  }
}

/** Lengths in bytes. */
interface Header {
  readonly length: number
  readonly content: number
}

function headerAt(bytes: Buffer, at: number): Header | undefined {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag !== undefined && tag !== 0x30) throw new Error('what arrived is not LDAP')
  if (first === undefined) return undefined
  if (first < 0x80) return { length: 2, content: first }
  const size = first & 0x7f
  if (size === 0 || size > 4) throw new Error('what arrived is not LDAP')
  if (bytes.length < at + 2 + size) return undefined
  const content = bytes.readUIntBE(at + 2, size)
  if (content > LONGEST_MESSAGE) throw new Error(`a message of ${content} bytes was announced`)
  return { length: 2 + size, content }
}
