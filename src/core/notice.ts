import { byCodeUnit } from '../base/order.ts'
import type { Kind } from './entries/entry.ts'
import type { Op, UserValues } from './plan/change.ts'

type NoParams = Readonly<Record<string, never>>

/** A DN, or a file name and a row. */
interface Place {
  readonly from: string
}

/** `fault`: what is wrong, in the words of the parser, of the expression or of the check of ids. */
export interface Faulty extends Place {
  readonly fault: string
}

export interface Examples {
  readonly examples: readonly string[]
  readonly total: number
}

/** @param most how many are named */
export function examplesOf(values: readonly string[], total = values.length, most = 3): Examples {
  let examples: readonly string[] = []
  for (const value of values) {
    const last = examples[most - 1]
    if (last === undefined || value < last)
      examples = [...examples, value].toSorted(byCodeUnit).slice(0, most)
  }
  return { examples, total }
}

interface EmailFault extends Place {
  readonly email: string
  readonly why: 'no-address' | 'other-domain'
}

interface EmailConflict extends Place {
  readonly email: string
  /** The user that has it (`held`), gets it by the smallest id (`smallest-id`), or has it too in the directory (`shared`). */
  readonly owner: string
  readonly how: 'held' | 'smallest-id' | 'shared'
  /** Where an undo would give the e-mail back: why the owner has it. */
  readonly undo: {
    readonly run: number
    readonly why: 'other-run' | 'other-part' | 'had-none' | 'left'
  } | null
}

/**
 * Why a recheck does not confirm that members left a group. `group` is its DN; `list` is the DN of the group with the
 * list in question: the group itself, or one within it.
 */
export interface UnconfirmedParams {
  readonly 'not-found': { readonly group: string }
  readonly 'id-shared': { readonly group: string; readonly others: number }
  readonly 'global-catalog': { readonly list: string }
  readonly changing: { readonly list: string }
  readonly 'too-many-unresolved': { readonly group: string; readonly list: string }
  readonly unresolved: { readonly group: string; readonly list: string; readonly member: string }
  readonly renamed: { readonly group: string }
  readonly 'more-removed': { readonly group: string; readonly members: number }
  readonly 'no-uid': { readonly group: string; readonly users: Examples }
  readonly 'attribute-required': { readonly group: string; readonly list: string; readonly attribute: string }
  /** `attributes`: those that list no member, where others do. */
  readonly 'member-of': {
    readonly group: string
    readonly list: string
    readonly attributes: readonly string[]
    readonly users: number
  }
}

export type UnconfirmedRemoval = Fact<UnconfirmedParams>

export type ChangedSince =
  | { readonly how: 'missing' | 'shared-id' }
  | {
      readonly how: 'values'
      readonly now: UserValues
      readonly did: 'wrote' | 'deleted'
      readonly values: UserValues
    }
  | {
      readonly how: 'name'
      readonly now: string
      readonly did: 'created' | 'deleted' | 'wrote'
      readonly name: string
    }
  | { readonly how: 'created' | 'back'; readonly by: number }
  | { readonly how: 'joined'; readonly now: UserValues; readonly group: string }
  | ({ readonly how: 'has-members'; readonly name: string } & Examples)

export type NotRestored =
  | { readonly how: 'found-before' | 'done-before' | 'group-missing' }
  | { readonly how: 'field-empty'; readonly field: 'email' | 'name' }
  | ({ readonly how: 'memberships' } & Examples)
  | { readonly how: 'members'; readonly name: string; readonly members: number }
  | { readonly how: 'other-members'; readonly name: string }
  | ({ readonly how: 'members-missing'; readonly name: string } & Examples)

export interface NoticeParams {
  // reading the source
  /** The id is unknown, so the run deletes nothing. */
  readonly unreadable: Faulty
  /** Other places with this id; none where the entry changed between two reads of it. */
  readonly 'duplicate-id': Place & { readonly others: Examples }
  /** The file seems to have another encoding than the configured one. */
  readonly 'doubtful-text': Faulty
  readonly 'no-name': Place
  /** The value is missing in the entry. */
  readonly 'value-failed': Faulty
  /** `groups`: how many of the members are groups; `shared`: uids of several users. A group without a row has no `from`. */
  readonly 'unknown-members': Examples & {
    readonly from: string | null
    readonly groups: number
    readonly shared: Examples
  }
  /** The group is left as it is. `groups`: groups within it that it is about, too. */
  readonly 'members-hidden': Place & {
    readonly why: 'changing' | 'global-catalog'
    readonly isOwn: boolean
    readonly groups: Examples
  }
  readonly disabled: Place & { readonly isGone: boolean }
  // reading the directory
  /** The directory's entry has no usable external id. `ownId`: the service's own. */
  readonly unaddressable: { readonly ownId: number | null; readonly name: string; readonly fault: string }
  /** None of these entries is ever deleted. */
  readonly 'shared-id': { readonly ownIds: readonly number[] }
  // planning
  readonly 'email-not-allowed': EmailFault
  /** The rest of the user is written. `isKept`: the directory keeps its own. */
  readonly 'email-dropped': EmailFault & { readonly isKept: boolean }
  readonly 'no-email': Place
  /** The rest of the user is written. */
  readonly 'duplicate-email': EmailConflict
  /** Users exchange their e-mails, which a service may refuse. */
  readonly 'email-swap': { readonly email: string; readonly owner: string; readonly isUndo: boolean }
  /** The id seems to belong to another user now. `undone`: the run that is undone. */
  readonly 'id-moved': Place & {
    readonly before: UserValues
    readonly after: UserValues
    readonly undone: number | null
  }
  /** A user that the plan deletes seems to be created under another id. */
  readonly 'new-id': { readonly oldId: string; readonly email: string }
  /** The plan deletes an entry whose id is none of the form that all ids of the source have. */
  readonly 'other-id-form': { readonly form: 'guid' | 'number' }
  /** The run is limited to this id, and neither side has it. */
  readonly 'unknown-id': { readonly similar: string | null; readonly isOtherKind: boolean }
  /** A list of the sync leaves it out. `from` is null for an entry that is not in the source. */
  readonly excluded: { readonly list: 'include' | 'exclude'; readonly from: string | null }
  /** Missing in the source, kept in the directory. */
  readonly 'value-kept': Place & { readonly fields: readonly ('email' | 'name')[] }
  readonly 'membership-differs': { readonly group: string; readonly added: number; readonly removed: number }
  // undoing a run
  /** The undone run created it, and the configuration protects it. */
  readonly protected: NoParams
  /** It is not as `run` left it, so it is left as it is. */
  readonly 'changed-since': { readonly run: number } & ChangedSince
  /** It cannot be put back to what it was before `run`, or not all of it. */
  readonly 'not-restored': { readonly run: number } & NotRestored
  // applying
  readonly 'read-back': { readonly op: Op; readonly changes: number }
  /** The service shows another value than was sent; of members only their number. */
  readonly rewritten: {
    readonly field: 'email' | 'name' | 'members'
    readonly sent: string | number | null
    readonly shown: string | number | null
  }
  /** The service did something else with a batch than to create its entries. */
  readonly 'batches-off': { readonly reason: string }
  /** Many entries to create were there: perhaps the directory's list is incomplete. */
  readonly 'directory-incomplete': { readonly there: number; readonly creates: number }
}

export type NoticeCode = keyof NoticeParams

/** A line of the report about an entry that is not a change. */
export type Notice = Fact<NoticeParams> & { readonly kind: Kind; readonly id: string | undefined }

export type NoticeOf<Code extends NoticeCode> = Extract<Notice, { readonly code: Code }>

export function isNotice<Code extends NoticeCode>(notice: Notice, code: Code): notice is NoticeOf<Code> {
  return notice.code === code
}

/** Users before groups, then by id, code and parameters. */
export function compareNotices(a: Notice, b: Notice): number {
  return (
    byCodeUnit(b.kind, a.kind) ||
    byCodeUnit(a.id ?? '', b.id ?? '') ||
    byCodeUnit(a.code, b.code) ||
    byCodeUnit(JSON.stringify(a.params), JSON.stringify(b.params))
  )
}

/** A code and its parameters, which are stored as JSON. `ui/messages` has a sentence for each code. */
export type Fact<Params> = {
  readonly [Code in keyof Params]: { readonly code: Code; readonly params: Params[Code] }
}[keyof Params]
