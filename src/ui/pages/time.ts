import { digits, pointInTime, timeTaken } from '../../base/wording.ts'
import { html, type Html } from './html.ts'

/** UTC and the distance to now; the browser adds the local time. */
export function at(iso: string | null, now: Date, none = '–'): Html {
  if (iso === null) return html`${none}`
  return html`<time datetime="${iso}">${pointInTime(iso)}</time> <small>${distance(iso, now)}</small>`
}

function distance(iso: string, now: Date): string {
  const ms = Date.parse(iso) - now.getTime()
  const text = roughly(Math.abs(ms) / 1000)
  if (text === undefined) return 'now'
  return ms < 0 ? `${text} ago` : `in ${text}`
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
]

/** In the greatest unit of which there are two: `7 d`, `36 h`; `undefined` for less than a second. */
export function roughly(seconds: number): string | undefined {
  if (seconds < 1) return undefined
  const [length, name] = UNITS.find(([unit]) => seconds >= 2 * unit) ?? [1, 's']
  return `${digits(Math.round(seconds / length))} ${name}`
}

/** Empty where it has not begun or not ended. */
export function took(from: string | null, to: string | null): string {
  return from === null || to === null ? '' : timeTaken(Date.parse(to) - Date.parse(from))
}
