import { textWidth } from './text.ts'

/**
 * A text on as many lines as it needs, broken between words; a word that is longer than a line is broken in itself. Width is in columns
 * of a terminal; `undefined` does not break.
 */
export function wrap(text: string, width: number | undefined): string[] {
  if (width === undefined || textWidth(text) <= width) return [text]
  const room = Math.max(width, 8)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`
    if (textWidth(joined) <= room) {
      line = joined
      continue
    }
    if (line !== '') lines.push(line)
    const pieces = chop(word, room)
    lines.push(...pieces.slice(0, -1))
    line = pieces.at(-1) ?? ''
  }
  return [...lines, line]
}

function chop(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  for (const character of word) {
    if (textWidth(piece + character) > width) {
      pieces.push(piece)
      piece = ''
    }
    piece += character
  }
  return [...pieces, piece]
}

/** A text cut to a width, with `…` where something is missing. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const [head = ''] = chop(text, Math.max(1, width - 1))
  return `${head}…`
}
