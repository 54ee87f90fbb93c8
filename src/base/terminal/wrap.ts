import { textWidth } from './text.ts'

/** Lines of `width` terminal columns; also breaks a word that is longer than a line. `undefined` is no limit. */
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

export function hang(begin: string, text: string, columns: number | undefined): string[] {
  const margin = textWidth(begin)
  const lines = wrap(text, columns === undefined ? undefined : columns - margin)
  return lines.map((line, at) => (at === 0 ? begin : ' '.repeat(margin)) + line)
}

/** Indents continuation lines by four more blanks. */
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

/** Graphemes, so that a character and its accents stay together. */
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

/** In its middle, because ids of one kind differ at their beginning or at their end. */
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

export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const [head = ''] = chop(text, Math.max(1, width - 1))
  return `${head}…`
}
