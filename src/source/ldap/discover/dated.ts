export interface CountedText {
  readonly text: string
  readonly entries: number
  /** With what follows the text in values such as the example: a year. */
  readonly example?: string
}

/** `12/2019`, `31.03.2021`, `2021-03-31` */
const DATE = /\b(?:\d{1,2}[./-]){0,2}(?:19|20)\d\d\b/

/** The first digits of today's years. */
export const CENTURIES = ['19', '20'] as const

/**
 * Groups values with a date by the text before it: after `left 12/2019` comes `left 03/2027`, so all values that begin
 * with `left` and have a year behind it count as one. A filter cannot match the blank between them, which some servers
 * do not compare.
 */
export function withoutDates(values: readonly CountedText[]): readonly CountedText[] {
  const beginnings = shortest(values.flatMap(({ text }) => beginningOf(text) ?? []))
  if (beginnings.length === 0) return values
  const counted = new Map<string, { entries: number; example: string }>()
  const others: CountedText[] = []
  for (const value of values) {
    const beginning = beginnings.find((each) => hasYearBehind(value.text, each))
    const known = beginning === undefined ? undefined : counted.get(beginning)
    if (beginning === undefined) others.push(value)
    else if (known === undefined) counted.set(beginning, { entries: value.entries, example: value.text })
    else known.entries += value.entries
  }
  return [...others, ...[...counted].map(([text, found]) => ({ text, ...found }))]
}

function beginningOf(text: string): string | undefined {
  const beginning = text.slice(0, Math.max(0, text.search(DATE))).replace(/\P{L}+$/u, '')
  return /\p{L}{3}/u.test(beginning) ? beginning : undefined
}

function shortest(beginnings: readonly string[]): readonly string[] {
  const found: string[] = []
  for (const each of beginnings.toSorted((a, b) => a.length - b.length))
    if (!found.some((other) => beginsWith(each, other))) found.push(each)
  return found
}

function hasYearBehind(text: string, beginning: string): boolean {
  return beginsWith(text, beginning) && CENTURIES.some((century) => text.includes(century, beginning.length))
}

/** As servers compare. */
function beginsWith(text: string, beginning: string): boolean {
  return text.toLowerCase().startsWith(beginning.toLowerCase())
}
