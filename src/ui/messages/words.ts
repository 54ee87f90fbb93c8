import { amount, digits, pointInTime } from '../../base/wording.ts'
import type { Examples, NotMade, Rejection } from '../../core/notice.ts'
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

/** Without the name of the entry: `not deleted` */
function notMadeAlone(change: NotMade): string {
  const { op, field, added, removed } = change
  switch (op) {
    case 'set-members':
      return `${amount(added, 'member')} not added, ${digits(removed)} not removed`
    case 'create-user':
    case 'create-group':
      return 'not created'
    case 'update-user':
    case 'update-group':
      return field === null ? 'not updated' : `${fieldText(field)} not updated`
    case 'delete-user':
    case 'delete-group':
      return 'not deleted'
  }
}

/** `Ana Šimić <ana@example.org>: not deleted` */
export function notMadeText(change: NotMade): string {
  return `${subject(change)}${notMadeAlone(change)}`
}

/** Before a sentence about the entry: `Ana Šimić <ana@example.org>: ` */
export function subject(change: NotMade): string {
  if (change.op === 'set-members') return `"${change.name ?? ''}": `
  const text = userText(change)
  return text === '' ? '' : `${text}: `
}

/** `rejected by ana at 2026-11-21 07:29:03Z in run 12` */
export function rejectionText({ by, at, run }: Rejection): string {
  return `rejected by ${by} at ${pointInTime(at)} in run ${run}`
}

/** @param entry how to name it in the command and in the sentence */
export function releaseText(
  { run, release }: Rejection,
  { id, what } = { id: 'ID', what: 'it' },
): string | undefined {
  switch (release) {
    case null:
      return undefined
    case 'alone':
      return `dirsyncd approve ${run} --id ${id} releases ${what}`
    case 'by-name':
      return `dirsyncd approve ${run} --only NAME releases all that was rejected there (dirsyncd runs ${run} shows the name)`
    case 'whole':
      return `dirsyncd approve ${run} releases all that was rejected there`
  }
}

/** Rounded up to a tenth, so that what exceeds a limit never reads as equal to it. */
export function percent(part: number, whole: number): string {
  return `${Math.ceil((part * 1000) / whole) / 10} %`
}
