/** Milliseconds of one unit of a duration. */
const UNITS: ReadonlyMap<string | undefined, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

export const DURATION = /^(\d{1,9})(ms|s|m|h|d)$/

/** A duration such as `500ms`, `30s` or `15m` in milliseconds, more than 0; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  const milliseconds = Number(match?.[1]) * (UNITS.get(match?.[2]) ?? Number.NaN)
  return milliseconds > 0 ? milliseconds : undefined
}
