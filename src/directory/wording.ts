/** A number as people read it: 12,345. */
export function digits(number: number): string {
  return number.toLocaleString('en-US')
}

/** A number and its noun: `1 user`, `12,345 users`. */
export function amount(number: number, noun: string): string {
  return `${digits(number)} ${noun}${number === 1 ? '' : 's'}`
}

/** An ISO time as people read it, in UTC: `2026-11-21 07:29:03Z`. */
export function pointInTime(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`
}
