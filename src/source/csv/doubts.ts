import { isAscii } from 'node:buffer'
import type { TextPosition } from './text-position.ts'

/** Looks at UTF-8 for what is valid and hardly meant; each sort of damage is told once. */
export interface DoubtSearch {
  look(bytes: Buffer, position: TextPosition): void
}

interface Damage {
  readonly lead: number | Buffer
  /** The damage that begins with a text; tried at each place where the lead stands. */
  readonly pattern: RegExp
  readonly words: (found: string) => string
  /** Whether another encoding may be the reason. */
  readonly asksEncoding: boolean
}

/** The characters that Windows-1252 has for the bytes with which characters of UTF-8 go on. */
const CONTINUATION = '\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'

const DAMAGES: readonly Damage[] = [
  {
    // The leads of Â, Ã, Ä and Å, which is what the first byte of most European letters becomes.
    lead: 0xc3,
    pattern: new RegExp(`^[ÂÃÄÅ][${CONTINUATION}]`),
    words: (found) => `"${found}" looks like one letter of UTF-8 that was read as two of something else`,
    asksEncoding: true,
  },
  {
    lead: 0xc2,
    pattern: /^[\u0080-\u009f]/,
    words: (found) => `there is the control character ${codePoint(found)}`,
    asksEncoding: true,
  },
  {
    lead: Buffer.from('\ufffd'),
    pattern: /^\ufffd/,
    words: () => 'there is the sign for a character that got lost (U+FFFD)',
    asksEncoding: true,
  },
  {
    // What is copied from web pages and Windows' dialogs brings these along. Joiners belong to names and emoji.
    lead: Buffer.from([0xe2, 0x80]),
    pattern: /^[\u200b\u202a-\u202e]/,
    words: (found) => `there is the invisible character ${codePoint(found)}, and it is part of the value`,
    asksEncoding: false,
  },
]

export function createDoubtSearch(encoding: string, onDoubt: (detail: string) => void): DoubtSearch {
  const open = new Set(DAMAGES)
  return {
    look(bytes, position) {
      if (open.size === 0 || isAscii(bytes)) return
      for (const damage of open) {
        const found = find(bytes, damage)
        if (found === undefined) continue
        open.delete(damage)
        const where = position.behind(bytes.subarray(0, found.at))
        const question = damage.asksEncoding ? `; it was read as ${encoding}: is that its encoding?` : ''
        onDoubt(`${where}: ${damage.words(found.text)}${question}`)
      }
    },
  }
}

function codePoint(text: string): string {
  return `U+${text.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

function find(bytes: Buffer, { lead, pattern }: Damage): { at: number; text: string } | undefined {
  for (let at = bytes.indexOf(lead); at >= 0; at = bytes.indexOf(lead, at + 1)) {
    const next = bytes[at + 1] ?? 0
    // Most letters end here: only 0x82 to 0x85 behind 0xC3 are suspicious, and only up to 0x9F behind 0xC2.
    if (lead === 0xc3 && (next < 0x82 || next > 0x85)) continue
    if (lead === 0xc2 && next > 0x9f) continue
    const text = pattern.exec(bytes.toString('utf8', at, at + 5))?.[0]
    if (text !== undefined) return { at, text }
  }
  return undefined
}
