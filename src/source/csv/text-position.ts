/** Both count from 1. */
export interface TextPosition {
  readonly line: number
  readonly character: number
}

export const START: TextPosition = { line: 1, character: 1 }

export function advance(position: TextPosition, text: string): TextPosition {
  let { line } = position
  let start = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
    line += 1
    start = at + 1
  }
  const characters = Array.from(text.slice(start)).length
  return { line, character: (start === 0 ? position.character : 1) + characters }
}

/** Such as "users.csv, line 3, character 7". */
export function formatPosition(name: string, { line, character }: TextPosition): string {
  return `${name}, line ${line}, character ${character}`
}
