import { advance, type TextPosition, sayPosition } from './text-position.ts'

interface Damage {
  readonly pattern: RegExp
  readonly words: (found: string) => string
  /** Whether another encoding may be the reason. */
  readonly asksEncoding: boolean
}

/** What an encoding makes of the bytes with which characters of UTF-8 go on. */
function continuation(encoding: string): string {
  return new TextDecoder(encoding).decode(Uint8Array.from({ length: 64 }, (_, byte) => 0x80 + byte))
}

/**
 * What the first byte of most European letters becomes, and what the second. Of windows-1250 without letters: in "VĂŞCAN"
 * they stand side by side.
 */
const TWO_OF_ONE = new RegExp(
  `[ÂÃÄÅ][${continuation('windows-1252')}]|` +
    `[ĂĹ][${continuation('windows-1250').replaceAll(/[\p{Lu}\p{Ll}]/gu, '')}]`,
)

const DAMAGES: readonly Damage[] = [
  {
    pattern: TWO_OF_ONE,
    words: (found) => `"${found}" looks like one letter of UTF-8 that was read as two of something else`,
    asksEncoding: true,
  },
  {
    pattern: /[\u0080-\u009f]/,
    words: (found) => `there is the control character ${codePoint(found)}`,
    asksEncoding: true,
  },
  {
    pattern: /\ufffd/,
    words: () => 'there is the sign for a character that got lost (U+FFFD)',
    asksEncoding: true,
  },
  {
    // What is copied from web pages and Windows' dialogs brings these along. Joiners belong to names and emoji.
    pattern: /[\u200b\u202a-\u202e]/,
    words: (found) => `there is the invisible character ${codePoint(found)}, and it is part of the value`,
    asksEncoding: false,
  },
]

/** Looks at text for what is valid and hardly meant; each sort of damage is told once. */
export function createDoubtSearch(name: string, encoding: string, onDoubt: (detail: string) => void) {
  const open = new Set(DAMAGES)
  return function look(text: string, position: TextPosition): void {
    for (const damage of open) {
      const found = damage.pattern.exec(text)
      if (found === null) continue
      open.delete(damage)
      const where = sayPosition(name, advance(position, text.slice(0, found.index)))
      const question = damage.asksEncoding ? `; it was read as ${encoding}: is that its encoding?` : ''
      onDoubt(`${where}: ${damage.words(found[0])}${question}`)
    }
  }
}

function codePoint(text: string): string {
  return `U+${text.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}
