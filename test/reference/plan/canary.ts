import type { Kind } from '../directory/entry.ts'
import { canonicalEmail, canonicalName, sortedUnique, foldedName } from '../directory/normalize.ts'
import type { Notice } from '../directory/snapshot.ts'
import { amount, digits } from '../directory/wording.ts'
import type { Change } from './change.ts'
import type { Phase } from './changes.ts'

/**
 * The canary: the first changes of one operation that a sync sends to a directory. They are read back before the rest
 * of that operation is sent. A delete is never one, because what it takes cannot be put back.
 */
export type CanaryChange = Exclude<Change, { readonly op: 'delete-user' | 'delete-group' }>

/** How many changes of one operation are sent before they are read back. */
export const CANARY_CHANGES = 20

/**
 * After a canary that failed, so many changes are sent and read back before the next one: a service that mixes up
 * people would otherwise mix up 20 more in every run of a night.
 */
export const FIRST_AFTER_FAILURE = 2

/** With a single change nobody can see that the service mixes up entries, so it proves nothing about the next ones. */
const FEWEST_TO_PASS = 2

/** The service may protect single entries from updates. When so many show nothing new, it does not store updates. */
const IGNORED_TO_FAIL = 5

/** The operations of each phase that have a canary. */
export const CANARY_OPS: Readonly<Record<Phase, readonly CanaryChange['op'][]>> = {
  'free-emails': ['update-user'],
  users: ['create-user', 'update-user'],
  'take-emails': ['create-user', 'update-user'],
  groups: ['create-group', 'update-group'],
  members: ['set-members'],
  'delete-groups': [],
  'delete-users': [],
}

/** What the service shows of an entry that was asked for by its id. */
export interface Shown {
  readonly id: string | null | undefined
  readonly email: string | null
  readonly name: string | null
  /** Empty for users. */
  readonly members: readonly string[]
}

/** What came of asking the service for an entry. */
export type Look =
  /** `shown` is `undefined` where the service has no such entry. */
  | { readonly result: 'looked'; readonly shown: Shown | undefined }
  /** Nobody answered, or a proxy did; it may pass. */
  | { readonly result: 'unavailable'; readonly detail: string }

/** A change that the service accepted, and what it shows of the entry since. */
export interface ReadBack {
  readonly change: CanaryChange
  /** The HTTP status that the service answered the change with. */
  readonly status: number | null
  /** `undefined`: the service has no such entry. */
  readonly shown: Shown | undefined
}

export interface CanaryVerdict {
  /** Why nothing more may be sent: a sentence for a person. */
  readonly failure: string | undefined
  /** Whether the rest of the operation may be sent without being read back. */
  readonly passed: boolean
  /** What the report is to say: which values the service shows otherwise than they were sent, and what passed. */
  readonly notices: readonly Notice[]
}

/** Whether the service shows just what was sent. */
export function isAsSent(readBack: ReadBack): boolean {
  const { shown, change } = readBack
  if (shown === undefined || shown.id !== change.id) return false
  return fieldsOf(change, shown).every(
    ({ field, sent, shows }) => sent === undefined || isSame(field, sent, shows),
  )
}

/** Judges changes of one operation by what the service shows of their entries. */
export function judgeCanary(
  readBacks: readonly ReadBack[],
  { mayPass }: { readonly mayPass: boolean },
): CanaryVerdict {
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
  const notices = passed ? [passedNotice(readBacks), ...rewritten] : rewritten
  return { failure: undefined, passed, notices }
}

/**
 * Why nothing more may be sent after a list of new entries: a sentence where one of them shows a value that was sent for
 * another one.
 *
 * @param list all entries of the request
 * @param looked those of them that were looked up and are there
 */
export function whyMixedUp(
  list: readonly CanaryChange[],
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

/** Whether the service shows each value that was sent, or a form of it. */
export function isStored(change: CanaryChange, shown: Shown): boolean {
  return fieldsOf(change, shown).every((values) => !isOther(values) || isOwnForm(values))
}

/** `got the name "Ada", and shows no name`; `undefined` where nothing differs. */
export function differenceIn(change: CanaryChange, shown: Shown): string | undefined {
  const values = fieldsOf(change, shown).find(isOther)
  return values && difference(values)
}

type Field = 'e-mail' | 'name' | 'members'

/** One value of an entry: a list, because a group has several members, and a user may have no e-mail. */
interface FieldValues {
  readonly field: Field
  /** `undefined` where the change does not write the field. */
  readonly sent: readonly string[] | undefined
  readonly before: readonly string[]
  readonly shows: readonly string[]
}

function fieldsOf(change: CanaryChange, shown: Shown): readonly FieldValues[] {
  switch (change.op) {
    case 'create-user':
    case 'update-user': {
      const { want } = change
      const have = change.op === 'update-user' ? change.have : { email: null, name: null }
      return [
        {
          field: 'e-mail',
          sent: maybe(want.email),
          before: listOf(have.email),
          shows: listOf(shown.email),
        },
        { field: 'name', sent: maybe(want.name), before: listOf(have.name), shows: listOf(shown.name) },
      ]
    }
    case 'create-group':
    case 'update-group': {
      const before = change.op === 'update-group' ? listOf(change.have.name) : []
      return [{ field: 'name', sent: [change.want.name], before, shows: listOf(shown.name) }]
    }
    case 'set-members':
      return [{ field: 'members', sent: change.want, before: change.have, shows: shown.members }]
  }
}

function maybe(value: string | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : [value]
}

function listOf(value: string | null): readonly string[] {
  return value === null ? [] : [value]
}

function canonical(field: Field, values: readonly string[]): readonly string[] {
  switch (field) {
    case 'e-mail':
      return values.map(canonicalEmail).filter(isNotEmpty)
    case 'name':
      return values.map(canonicalName).filter(isNotEmpty)
    case 'members':
      return sortedUnique(values)
  }
}

function isNotEmpty(value: string): boolean {
  return value !== ''
}

function isSame(field: Field, a: readonly string[], b: readonly string[]): boolean {
  return keyOf(field, a) === keyOf(field, b)
}

function keyOf(field: Field, values: readonly string[]): string {
  return JSON.stringify([field, ...canonical(field, values)])
}

/** The id of an entry that each value was sent for. */
type Senders = ReadonlyMap<string, string>

function sendersOf(changes: readonly CanaryChange[]): Senders {
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
  /** Goes on after `user "u7"`. */
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
    const exclude = `If only this entry is at fault, put its id on the list entries.${kindOf(change)}s.exclude.`
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
    `${writtenIn(readBack)} with ${sent === undefined ? `no ${field}` : inWords(field, sent)}, ` +
    `and shows ${inWords(field, shows)}, which was sent for ${kindOf(change)} "${owner}"`
  return { readBack, text, remedy: REPORT_MIX }
}

/** Whether the service shows a value that was sent for another entry, and that is no form of this entry's own. */
function isOfAnother({ field, sent, before, shows }: FieldValues, senders: Senders): boolean {
  if (isSame(field, shows, before) || !senders.has(keyOf(field, shows))) return false
  return sent === undefined || !(isSame(field, shows, sent) || isFormOf(field, shows, sent))
}

/**
 * Whether a service may have made what it shows of what was sent, by cutting it off, changing its case or leaving parts
 * out. Of e-mails, which are unique, another one is always somebody else's, unless it only lacks the `+tag`.
 */
function isFormOf(field: Field, shows: readonly string[], sent: readonly string[]): boolean {
  switch (field) {
    case 'e-mail':
      return keyOf(field, shows) === keyOf(field, sent.map(withoutTag))
    case 'name': {
      const [shown, wanted] = [bare(shows), bare(sent)]
      return shareWords(shown, wanted) || wanted.join('').startsWith(shown.join(''))
    }
    case 'members':
      return shareWords(shows, sent)
  }
}

function shareWords(a: readonly string[], b: readonly string[]): boolean {
  return a.every((part) => b.includes(part)) || b.every((part) => a.includes(part))
}

function withoutTag(email: string): string {
  return email.replace(/\+[^@]*(?=@)/, '')
}

/** The words of a name without case, accents and punctuation, in which `Jürgen` and `Juergen` are the same. */
function bare(names: readonly string[]): readonly string[] {
  const folded = foldedName(names.join(' '))
    .replaceAll(/[ßæœøłđ]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replaceAll(/(?<=[aou])e/g, '')
  return folded.match(/[\p{L}\p{N}]+/gu) ?? []
}

const PLAIN_LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'a', œ: 'o', ø: 'o', ł: 'l', đ: 'd' }

/**
 * Whether the entry is there and shows nothing of what was sent, but what it showed before. A service that always cuts
 * or changes names shows what it showed before, too: it stores what it is sent, in its own form.
 */
function isIgnored(readBack: ReadBack): boolean {
  const { shown, change } = readBack
  if (shown === undefined || shown.id !== change.id) return false
  const written = fieldsOf(change, shown).filter(({ sent }) => sent !== undefined)
  return (
    written.every(({ field, before, shows }) => isSame(field, shows, before)) &&
    written.some((values) => isOther(values) && !isOwnForm(values))
  )
}

/** Whether the service shows the value in a form of its own. */
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
    .map((values) => ({
      kind: kindOf(change),
      id: change.id,
      code: 'rewritten',
      detail: difference(values),
    }))
}

/** A value for a person; of members only the number, because a group may have thousands. */
function inWords(field: Field, values: readonly string[]): string {
  if (field === 'members') return amount(values.length, 'member')
  const [value] = values
  return value === undefined ? `no ${field}` : `the ${field} "${value}"`
}

/** @param all how many are at fault, of how many */
function failureOf(faults: readonly Fault[], all: string): string {
  const [{ readBack, text, remedy }] = faults as [Fault]
  const { change } = readBack
  const others = faults.length === 1 ? '' : ` So it is with ${all}.`
  return (
    `The service does not show what was sent to it: ${kindOf(change)} "${change.id}" ${text}.${others} ` +
    `Nothing more was sent. ${remedy} The next run sends ${FIRST_AFTER_FAILURE} changes of this kind and reads them back before it sends more.`
  )
}

function passedNotice(readBacks: readonly ReadBack[]): Notice {
  const { change } = readBacks[0]!
  const detail = `${digits(readBacks.length)} changes of the kind ${change.op} were read back from the service`
  return { kind: kindOf(change), id: undefined, code: 'read-back', detail }
}

function kindOf({ op }: CanaryChange): Kind {
  return op === 'create-user' || op === 'update-user' ? 'user' : 'group'
}
