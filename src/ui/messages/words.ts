import { digits } from '../../base/wording.ts'
import type { Examples } from '../../core/notice.ts'
import type { UserValues } from '../../core/plan/change.ts'

/** Quotes the name of an entry, or hides it. */
export type Quote = (text: string) => string

export const inQuotes: Quote = (text) => `"${text}"`

/** `"a", "b" and 2 more` */
export function named({ examples, total }: Examples, quote: Quote = inQuotes): string {
  const more = total - examples.length
  const shown = examples.map(quote).join(', ')
  return more > 0 ? `${shown} and ${digits(more)} more` : shown
}

/** `Ana Šimić <ana@example.org>`; empty without both. */
export function userText({ name, email }: Pick<UserValues, 'name' | 'email'>): string {
  return [name ?? '', email ? `<${email}>` : ''].filter((part) => part !== '').join(' ')
}

export function fieldText(field: 'email' | 'name'): string {
  return field === 'email' ? 'e-mail' : 'name'
}

/** Rounded up to a tenth, so that what exceeds a limit never reads as equal to it. */
export function percent(part: number, whole: number): string {
  return `${Math.ceil((part * 1000) / whole) / 10} %`
}

const KEYS_SHOWN = 8

/** Of options. */
export function keysText(keys: readonly string[]): string {
  const more = keys.length - KEYS_SHOWN
  return [...keys.slice(0, KEYS_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}
