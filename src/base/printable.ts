/**
 * Control characters, line breaks and marks of writing direction, because a name must not rewrite the terminal; and
 * invisible characters that no script needs, because two different names must not look the same.
 */
const UNPRINTABLE =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/** Longer than every id and value of the source; a directory may hold anything. */
const LONGEST = 2_500

/** Safe on one line of a terminal. */
export function printable(text: string): string {
  if (text.length > LONGEST) {
    return `${printable(text.slice(0, LONGEST).toWellFormed())}… (${text.length} characters)`
  }
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}
