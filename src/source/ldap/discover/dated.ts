/** What entries have, and how many. */
export interface CountedText {
  readonly text: string
  readonly entries: number
  /** Others begin with it, too: the text is only their beginning. */
  readonly isBeginning?: true
}

/** `12/2019`, `31.03.2021`, `2021-03-31` */
const DATE = /\b(?:\d{1,2}[./-]){0,2}(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d\d\b/

/**
 * The values of an attribute, those with a date by what is before it: of `left 12/2019` the next one is `left 03/2027`,
 * so all that begins with `left` counts as one.
 */
export function withoutDates(values: readonly CountedText[]): readonly CountedText[] {
  const stems = shortest(values.flatMap(({ text }) => stemOf(text) ?? []))
  if (stems.length === 0) return values
  const counted = new Map<string, number>()
  const others: CountedText[] = []
  for (const value of values) {
    const stem = stems.find((each) => beginsWith(value.text, each))
    if (stem === undefined) others.push(value)
    else counted.set(stem, (counted.get(stem) ?? 0) + value.entries)
  }
  return [
    ...others,
    ...[...counted].map(([text, entries]) => ({ text, entries, isBeginning: true as const })),
  ]
}

function stemOf(text: string): string | undefined {
  const stem = text.slice(0, Math.max(0, text.search(DATE))).replace(/[\s,:;([-]+$/, '')
  return /\p{L}{3}/u.test(stem) ? stem : undefined
}

/** Each without those that begin with another one. */
function shortest(stems: readonly string[]): readonly string[] {
  const found: string[] = []
  for (const stem of stems.toSorted((a, b) => a.length - b.length))
    if (!found.some((other) => beginsWith(stem, other))) found.push(stem)
  return found
}

/** As servers compare them, and at the end of a word. */
function beginsWith(text: string, stem: string): boolean {
  return text.toLowerCase().startsWith(stem.toLowerCase()) && !/^\p{L}/u.test(text.slice(stem.length))
}
