/** In milliseconds. */
const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const DURATION = /^(\d{1,9})(ms|s|m|h|d)$/

/** `500ms`, `30s` or `15m` in milliseconds; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}
