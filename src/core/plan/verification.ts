import { canonicalEmail, canonicalName, sortedUnique, foldedName } from '../entries/normalize.ts'
import type { Notice } from '../notice.ts'
import { amount, digits } from '../../base/wording.ts'
import { type Change, kindOf, type UserValues } from './change.ts'
import type { Phase } from './changes.ts'

/**
 * The first changes of one operation that a sync sends to a directory; they are read back before the rest is sent.
 * Deletes are not among them, because they cannot be undone.
 */
export type VerifiedChange = Exclude<Change, { readonly op: 'delete-user' | 'delete-group' }>

export const FIRST_CHANGES = 20

/**
 * After a failed verification, so few are sent and read back first: a service that mixes up entries would otherwise mix
 * up 20 more in every run of a night.
 */
export const FIRST_AFTER_FAILURE = 2

/** A single change cannot show that the service mixes up entries, so it proves nothing about the next ones. */
const FEWEST_TO_PASS = 2

/** The service may protect single entries from updates. When so many do not change, it does not store updates. */
const IGNORED_TO_FAIL = 5

export const VERIFIED_OPS: Readonly<Record<Phase, readonly VerifiedChange['op'][]>> = {
  'free-emails': ['update-user'],
  users: ['create-user', 'update-user'],
  'take-emails': ['create-user', 'update-user'],
  groups: ['create-group', 'update-group'],
  members: ['set-members'],
  'delete-groups': [],
  'delete-users': [],
}

export interface Shown {
  readonly id: string | null | undefined
  readonly email: string | null
  readonly name: string | null
  /** Empty for users. */
  readonly members: readonly string[]
}

export type Look =
  /** `shown` is `undefined` where the service has no such entry. */
  | { readonly result: 'looked'; readonly shown: Shown | undefined }
  /** No answer, or one of a proxy; it may pass. */
  | { readonly result: 'unavailable'; readonly detail: string }

/** An accepted change, and the entry as the service shows it since. */
export interface ReadBack {
  readonly change: VerifiedChange
  readonly status: number | null
  /** `undefined`: the service has no such entry. */
  readonly shown: Shown | undefined
}

export interface VerificationResult {
  /** Why nothing more may be sent, in a sentence. */
  readonly failure: string | undefined
  readonly passed: boolean
  /** Which values differ from what was sent, and which operations passed. */
  readonly notices: readonly Notice[]
}

export function isAsSent(readBack: ReadBack): boolean {
  const { shown, change } = readBack
  if (shown === undefined || shown.id !== change.id) return false
  return !fieldsOf(change, shown).some(isOther)
}

export function judgeVerification(
  readBacks: readonly ReadBack[],
  { mayPass }: { readonly mayPass: boolean },
): VerificationResult {
  const senders = sendersOf(readBacks.map(({ change }) => change))
  const faults: Fault[] = []
  const rewritten: Notice[] = []
  const ignored: ReadBack[] = []
  for (const readBack of readBacks) {
    const fault = faultOf(readBack, senders)
    if (fault !== undefined) faults.push(fault)
    if (isIgnored(readBack)) ignored.push(readBack)
    if (fault === undefined) rewritten.push(...rewrittenIn(readBack))
  }
  const storesNothing = ignored.length === readBacks.length && ignored.length >= IGNORED_TO_FAIL
  if (storesNothing) faults.push(...ignored.map(ignoredFault))
  if (faults.length > 0) {
    const { op } = readBacks[0]!.change
    const others = `${digits(faults.length)} of the first ${digits(readBacks.length)} changes of the kind ${op}`
    return { failure: failureOf(faults, others), passed: false, notices: rewritten }
  }
  const passed = mayPass && readBacks.length >= FEWEST_TO_PASS && ignored.length < readBacks.length
  if (!passed) return { failure: undefined, passed, notices: rewritten }
  const { op } = readBacks[0]!.change
  const params = { op, changes: readBacks.length }
  const notice: Notice = { kind: kindOf(op), id: undefined, code: 'read-back', params }
  return { failure: undefined, passed, notices: [notice, ...rewritten] }
}

/**
 * Why nothing more may be sent after a batch of creates: an entry shows a value that was sent for another one.
 * @param list all entries of the request
 * @param looked those that were looked up and exist
 */
export function whyMixedUp(
  list: readonly VerifiedChange[],
  looked: readonly (ReadBack & { readonly shown: Shown })[],
): string | undefined {
  const senders = sendersOf(list)
  const faults = looked.flatMap((readBack) => valueOfAnother(readBack, readBack.shown, senders) ?? [])
  if (faults.length === 0) return undefined
  const [first, ...others] = faults.map((fault) => ({ ...fault, remedy: `${fault.remedy} ${NO_LISTS}` }))
  const ofList = `${digits(looked.length)} entries that were looked up of a list of ${digits(list.length)}`
  const all = `${digits(faults.length)} of ${ofList}`
  return failureOf([first!, ...others], all)
}

export function isStored(change: VerifiedChange, shown: Shown): boolean {
  return fieldsOf(change, shown).every((values) => !isOther(values) || isOwnForm(values))
}

type Field = 'email' | 'name' | 'members'

/** Lists, because a group has several members, and a user may have no e-mail. */
interface FieldValues {
  readonly field: Field
  /** `undefined` where the change does not write the field. */
  readonly sent: readonly string[] | undefined
  readonly before: readonly string[]
  readonly shows: readonly string[]
}

function fieldsOf(change: VerifiedChange, shown: Shown): readonly FieldValues[] {
  if (change.op === 'set-members')
    return [{ field: 'members', sent: change.want, before: change.have, shows: shown.members }]
  const want: { readonly email?: string; readonly name?: string } = change.want
  const have: Partial<UserValues> = 'have' in change ? change.have : {}
  const fields = kindOf(change.op) === 'user' ? (['email', 'name'] as const) : (['name'] as const)
  return fields.map((field) => {
    const sent = want[field]
    const [before, shows] = [listOf(have[field] ?? null), listOf(shown[field])]
    return { field, sent: sent === undefined ? undefined : [sent], before, shows }
  })
}

function listOf(value: string | null): readonly string[] {
  return value === null ? [] : [value]
}

function canonical(field: Field, values: readonly string[]): readonly string[] {
  if (field === 'members') return sortedUnique(values)
  return values.map(field === 'email' ? canonicalEmail : canonicalName).filter((value) => value !== '')
}

function isSame(field: Field, a: readonly string[], b: readonly string[]): boolean {
  return keyOf(field, a) === keyOf(field, b)
}

function keyOf(field: Field, values: readonly string[]): string {
  return JSON.stringify([field, ...canonical(field, values)])
}

/** By value, the id of the entry that it was sent for. */
type Senders = ReadonlyMap<string, string>

function sendersOf(changes: readonly VerifiedChange[]): Senders {
  const senders = new Map<string, string>()
  for (const change of changes) {
    for (const { field, sent } of fieldsOf(change, NOTHING_SHOWN)) {
      if (sent !== undefined && canonical(field, sent).length > 0) senders.set(keyOf(field, sent), change.id)
    }
  }
  return senders
}

const NOTHING_SHOWN: Shown = { id: undefined, email: null, name: null, members: [] }

interface Fault {
  /** Follows `user "u7"`. */
  readonly text: string
  readonly readBack: ReadBack
  readonly remedy: string
}

const CHECK_ADDRESS =
  'Check directory.baseUrl, organizationId and directoryId, and what stands between dirsyncd and the service (a proxy, ' +
  'a cache).'
const CHECK_ID = 'Map external_id to a value that the service keeps as it is.'
const REPORT_MIX =
  'Tell whoever runs the service that it gives entries the values of others; the run that finds it mended corrects them, ' +
  'which a guard may hold until you approve it.'
const CHECK_WRITES =
  'Check what stands between dirsyncd and the service (a proxy, a cache), and whether the service takes such changes.'
const NO_LISTS = 'If it does so only with lists of entries, set directory.createBatch to 1.'
const NO_MEMBERS = 'If the service has no way to write members, set directory.membership to report.'

function faultOf(readBack: ReadBack, senders: Senders): Fault | undefined {
  const { change, shown } = readBack
  const written = writtenIn(readBack)
  if (shown === undefined) {
    const exclude = `If only this entry is at fault, put its id on the list entries.${kindOf(change.op)}s.exclude.`
    return { readBack, text: `${written}, and is not there`, remedy: `${CHECK_ADDRESS} ${exclude}` }
  }
  if (shown.id !== change.id) {
    const id = shown.id === null || shown.id === undefined ? 'without an id' : `under the id "${shown.id}"`
    return { readBack, text: `${written}, and is there ${id}`, remedy: CHECK_ID }
  }
  return valueOfAnother(readBack, shown, senders)
}

function writtenIn({ change, status }: ReadBack): string {
  const answer = status === null ? '' : ` (answer ${status})`
  return `was ${change.op.startsWith('create-') ? 'created' : 'updated'}${answer}`
}

function valueOfAnother(readBack: ReadBack, shown: Shown, senders: Senders): Fault | undefined {
  const { change } = readBack
  const mixed = fieldsOf(change, shown).find((values) => isOfAnother(values, senders))
  if (mixed === undefined) return undefined
  const { field, sent, shows } = mixed
  const owner = senders.get(keyOf(field, shows))
  const text =
    `${writtenIn(readBack)} with ${sent === undefined ? `no ${NOUNS[field]}` : inWords(field, sent)}, ` +
    `and shows ${inWords(field, shows)}, which was sent for ${kindOf(change.op)} "${owner}"`
  return { readBack, text, remedy: REPORT_MIX }
}

/** Whether the value was sent for another entry and is no form of this entry's own. */
function isOfAnother({ field, sent, before, shows }: FieldValues, senders: Senders): boolean {
  if (isSame(field, shows, before) || !senders.has(keyOf(field, shows))) return false
  return sent === undefined || !(isSame(field, shows, sent) || isFormOf(field, shows, sent))
}

/**
 * Whether a service may have made the shown value from the sent one: cut off, other case, parts left out. E-mails are
 * unique: another one belongs to another user, unless it only lacks the `+tag`.
 */
function isFormOf(field: Field, shows: readonly string[], sent: readonly string[]): boolean {
  if (field === 'email') return keyOf(field, shows) === keyOf(field, sent.map(withoutTag))
  if (field === 'members') return shareWords(shows, sent)
  const [shown, wanted] = [bare(shows), bare(sent)]
  return shareWords(shown, wanted) || wanted.join('').startsWith(shown.join(''))
}

function shareWords(a: readonly string[], b: readonly string[]): boolean {
  return a.every((part) => b.includes(part)) || b.every((part) => a.includes(part))
}

function withoutTag(email: string): string {
  return email.replace(/\+[^@]*(?=@)/, '')
}

/** The words of a name without case, accents and punctuation; `Jürgen` and `Juergen` are the same. */
function bare(names: readonly string[]): readonly string[] {
  const folded = foldedName(names.join(' '))
    .replaceAll(/[ßæœøłđ]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replaceAll(/(?<=[aou])e/g, '')
  return folded.match(/[\p{L}\p{N}]+/gu) ?? []
}

const PLAIN_LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'a', œ: 'o', ø: 'o', ł: 'l', đ: 'd' }

/** Only old values are shown. A service that always changes names shows them too: it stores its own form. */
function isIgnored(readBack: ReadBack): boolean {
  const { shown, change } = readBack
  if (shown === undefined || shown.id !== change.id) return false
  const written = fieldsOf(change, shown).filter(({ sent }) => sent !== undefined)
  return (
    written.every(({ field, before, shows }) => isSame(field, shows, before)) &&
    written.some((values) => isOther(values) && !isOwnForm(values))
  )
}

function isOwnForm({ field, sent, shows }: FieldValues): boolean {
  if (sent === undefined || field === 'members') return false
  return canonical(field, shows).length > 0 && isFormOf(field, shows, sent)
}

function isOther({ field, sent, shows }: FieldValues): boolean {
  return sent !== undefined && !isSame(field, sent, shows)
}

function ignoredFault(readBack: ReadBack): Fault {
  const { change, shown } = readBack
  const text = difference(fieldsOf(change, shown ?? NOTHING_SHOWN).find(isOther)!)
  const remedy = change.op === 'set-members' ? `${CHECK_WRITES} ${NO_MEMBERS}` : CHECK_WRITES
  return { readBack, text, remedy }
}

function difference({ field, sent, shows }: FieldValues): string {
  return `got ${inWords(field, sent ?? [])}, and shows ${inWords(field, shows)}`
}

function rewrittenIn(readBack: ReadBack): readonly Notice[] {
  const { change, shown } = readBack
  if (shown === undefined) return []
  return fieldsOf(change, shown)
    .filter(isOther)
    .map(({ field, sent, shows }) => ({
      kind: kindOf(change.op),
      id: change.id,
      code: 'rewritten',
      params: { field, sent: shownAs(field, sent ?? []), shown: shownAs(field, shows) },
    }))
}

/** Members only as a number, because a group may have thousands. */
function shownAs(field: Field, values: readonly string[]): string | number | null {
  return field === 'members' ? values.length : (values[0] ?? null)
}

const NOUNS: Readonly<Record<Field, string>> = { email: 'e-mail', name: 'name', members: 'members' }

function inWords(field: Field, values: readonly string[]): string {
  if (field === 'members') return amount(values.length, 'member')
  const [value] = values
  const noun = NOUNS[field]
  return value === undefined ? `no ${noun}` : `the ${noun} "${value}"`
}

function failureOf(faults: readonly Fault[], all: string): string {
  const [{ readBack, text, remedy }] = faults as [Fault]
  const { change } = readBack
  const others = faults.length === 1 ? '' : ` So it is with ${all}.`
  return (
    `The service does not show what was sent to it: ${kindOf(change.op)} "${change.id}" ${text}.${others} ` +
    `Nothing more was sent. ${remedy} The next run sends ${FIRST_AFTER_FAILURE} changes of this kind and reads them back before it sends more.`
  )
}
