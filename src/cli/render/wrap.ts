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

/** Lines no wider than the terminal: what goes on stands four blanks deeper than its line began. */
export function fold(lines: readonly string[], columns: number | undefined): string[] {
  return lines.flatMap((line) => {
    if (columns === undefined || textWidth(line) <= columns) return [line]
    const indent = /^ */.exec(line)?.[0] ?? ''
    const margin = `${indent}    `
    const parts = wrap(line.slice(indent.length), columns - margin.length)
    return parts.map((part, at) => (at === 0 ? indent : margin) + part)
  })
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** What a person takes for one character stays together. */
function charactersOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}

function chop(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  for (const character of charactersOf(word)) {
    if (textWidth(piece + character) > width) {
      pieces.push(piece)
      piece = ''
    }
    piece += character
  }
  return [...pieces, piece]
}

/** A text cut to a width in its middle: ids of one sort differ at one of their ends, and nobody knows at which. */
export function cutMiddle(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const head = Math.ceil((width - 1) / 2)
  const [begin = ''] = chop(text, head)
  let end = ''
  for (const character of charactersOf(text).toReversed()) {
    if (textWidth(character + end) > width - 1 - head) break
    end = character + end
  }
  return `${begin}…${end}`
}

/** A text cut to a width, with `…` where something is missing. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const [head = ''] = chop(text, Math.max(1, width - 1))
  return `${head}…`
}
