/** Where a reader of text is; both from 1 on. */
export interface Place {
  readonly line: number
  readonly character: number
}

export const START: Place = { line: 1, character: 1 }

/** The place behind a text that begins at `place`. */
export function advance(place: Place, text: string): Place {
  let { line } = place
  let start = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
    line += 1
    start = at + 1
  }
  const characters = Array.from(text.slice(start)).length
  return { line, character: (start === 0 ? place.character : 1) + characters }
}

/** Such as "users.csv, line 3, character 7". */
export function sayPlace(name: string, { line, character }: Place): string {
  return `${name}, line ${line}, character ${character}`
}
