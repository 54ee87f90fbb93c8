const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds of a duration with a unit, such as `200ms`, `1s` or `30d`; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  if (match === null) return undefined
  return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}
