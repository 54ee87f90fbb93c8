const LINE_FEED = 0x0a

/** Where a reader of UTF-8 is, for the sentences about its faults. */
export interface TextPosition {
  /** These bytes were read. */
  advance(bytes: Buffer): void
  readonly line: number
  /** Such as "users.csv, line 3, character 7": of the character behind these bytes. */
  behind(bytes: Buffer): string
}

export function createTextPosition(name: string): TextPosition {
  let line = 1
  /** Characters of the line that were read. */
  let characters = 0

  function after(bytes: Buffer): { line: number; characters: number } {
    let feeds = 0
    let start = 0
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, start)) {
      feeds += 1
      start = at + 1
    }
    return { line: line + feeds, characters: (feeds === 0 ? characters : 0) + countFrom(bytes, start) }
  }

  return {
    advance(bytes) {
      ;({ line, characters } = after(bytes))
    },
    get line() {
      return line
    },
    behind(bytes) {
      const at = after(bytes)
      return `${name}, line ${at.line}, character ${at.characters + 1}`
    },
  }
}

/** Code points; a byte order mark is none. */
function countFrom(bytes: Buffer, start: number): number {
  let count = 0
  for (let at = start; at < bytes.length; at += 1) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) count += 1
  return start === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? count - 1 : count
}
