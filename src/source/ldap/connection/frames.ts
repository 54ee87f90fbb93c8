/** No honest message is longer; a length beyond it means that something else than LDAP is talking. */
const LONGEST_MESSAGE = 256 * 1024 * 1024

/** Cuts the bytes of a connection into whole LDAP messages. */
export interface Framer {
  /** Takes what arrived and returns the messages that are now whole. Throws when it cannot be LDAP. */
  push(chunk: Buffer): Buffer[]
  /** Whether a message has begun and not ended. */
  readonly partial: boolean
}

/** Chunks are joined only when a message is whole: a group with a million members would be copied hundreds of times. */
export function createFramer(): Framer {
  let chunks: Buffer[] = []
  let held = 0
  let needed = 0

  function take(): Buffer[] {
    const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, held)
    const messages: Buffer[] = []
    let at = 0
    needed = messageLength(bytes, at)
    while (needed > 0 && bytes.length - at >= needed) {
      messages.push(bytes.subarray(at, at + needed))
      at += needed
      needed = messageLength(bytes, at)
    }
    const rest = bytes.subarray(at)
    chunks = rest.length > 0 ? [rest] : []
    held = rest.length
    return messages
  }

  return {
    push(chunk) {
      chunks.push(chunk)
      held += chunk.length
      return held < needed ? [] : take()
    },
    get partial() {
      return held > 0
    },
  }
}

/** The length of the message that begins here, header included; 0 while the header is not whole. */
function messageLength(bytes: Buffer, at: number): number {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag !== undefined && tag !== 0x30) throw new Error('what arrived is not LDAP')
  if (first === undefined) return 0
  if (first < 0x80) return 2 + first
  const size = first & 0x7f
  if (size === 0 || size > 4) throw new Error('what arrived is not LDAP')
  if (bytes.length < at + 2 + size) return 0
  const length = bytes.readUIntBE(at + 2, size)
  if (length > LONGEST_MESSAGE) throw new Error(`a message of ${length} bytes was announced`)
  return 2 + size + length
}
