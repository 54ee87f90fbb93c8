import { byCodeUnit } from './normalize.ts'

/** A number as people read it: 12,345. */
export function digits(number: number): string {
  return number.toLocaleString('en-US')
}

/** A number and its noun: `1 user`, `12,345 users`, `2 directories`. */
export function amount(number: number, noun: string): string {
  return `${digits(number)} ${number === 1 ? noun : `${noun.replace(/([^aeiou])y$/, '$1ie')}s`}`
}

/** An ISO time as people read it, in UTC: `2026-11-21 07:29:03Z`. */
export function pointInTime(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** An ISO time within the next day, in UTC: `07:29:03Z`. */
export function timeOfDay(iso: string): string {
  return `${new Date(iso).toISOString().slice(11, 19)}Z`
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min` */
export function timeTaken(milliseconds: number): string {
  // The clock was set back meanwhile.
  if (milliseconds < 0) return '?'
  const seconds = milliseconds / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** The first values by code unit, in quotes, and how many more there are. */
export function examples(values: readonly string[], total = values.length, most = 3): string {
  const sorted = values.toSorted(byCodeUnit)
  const shown = sorted.slice(0, most).map((value) => `"${value}"`)
  const more = total - shown.length
  return more > 0 ? `${shown.join(', ')} and ${digits(more)} more` : shown.join(', ')
}

/** So much is shown of a text of others that is longer than the second. */
const SHOWN = 200
const LONGEST = 300

/** A text of others, of any length, in a list or a sentence. */
export function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, SHOWN)}… (${digits(text.length)} characters)` : text
}
