interface Damage {
  readonly pattern: RegExp
  readonly describe: (found: string) => string
  readonly maybeWrongEncoding: boolean
}

/** How the encoding decodes the continuation bytes of UTF-8. */
function continuation(encoding: string): string {
  return new TextDecoder(encoding).decode(Uint8Array.from({ length: 64 }, (_, byte) => 0x80 + byte))
}

/** Most European letters of UTF-8 as two characters. In windows-1250, "VĂŞCAN" is real: the second is no letter. */
const MOJIBAKE = new RegExp(
  `[ÂÃÄÅ][${continuation('windows-1252')}]|` +
    `[ĂĹ][${continuation('windows-1250').replaceAll(/[\p{Lu}\p{Ll}]/gu, '')}]`,
)

const DAMAGES: readonly Damage[] = [
  {
    pattern: MOJIBAKE,
    describe: (found) => `"${found}" looks like one letter of UTF-8 that was decoded as two characters`,
    maybeWrongEncoding: true,
  },
  {
    pattern: /[\u0080-\u009f]/,
    describe: (found) => `there is the control character ${codePoint(found)}`,
    maybeWrongEncoding: true,
  },
  {
    pattern: /\ufffd/,
    describe: () => 'there is the replacement character U+FFFD, so a character was lost',
    maybeWrongEncoding: true,
  },
  {
    // Typical of text copied from web pages and Windows dialogs. Joiners are no damage: names and emoji need them.
    pattern: /[\u200b\u202a-\u202e]/,
    describe: (found) => `there is the invisible character ${codePoint(found)}, and it is part of the value`,
    maybeWrongEncoding: false,
  },
]

/** Finds characters that are valid but hardly intended, each kind of damage once. */
export function createDoubtSearch(encoding: string) {
  const unreported = new Set(DAMAGES)
  return function* search(text: string): Generator<{ readonly at: number; readonly fault: string }> {
    // Most texts are ASCII, in which there is no damage.
    if (Buffer.byteLength(text) === text.length) return
    for (const damage of unreported) {
      const found = damage.pattern.exec(text)
      if (found === null) continue
      unreported.delete(damage)
      const question = damage.maybeWrongEncoding ? `; it was read as ${encoding}: is that its encoding?` : ''
      yield {
        at: found.index,
        fault: `${damage.describe(found[0])}${question} (only the first one is reported)`,
      }
    }
  }
}

function codePoint(text: string): string {
  return `U+${text.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}
