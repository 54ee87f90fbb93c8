/** Milliseconds and a numeric offset, such as `2026-01-31T08:15:00.000+00:00`. */
export function timestamp(time: Date): string {
  return time.toISOString().replace('Z', '+00:00')
}
