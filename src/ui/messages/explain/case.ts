import { isNotice, type Notice, type NoticeCode, type NoticeOf } from '../../../core/notice.ts'
import { noticeText } from '../notices.ts'
import { pointInTime } from '../../../base/wording.ts'
import type { Change } from '../../../core/plan/change.ts'
import type { JournalEntry, Story } from '../../../operations/story.ts'

export type VerdictCode =
  | 'never-seen'
  | 'source-unreadable'
  | 'directory-unreadable'
  | 'unchanged'
  | 'changed'
  | 'failed'
  | 'deleted'
  | 'absent'
  | 'left-filter'
  | 'other-base'
  | 'not-an-entry'
  | 'disabled'
  | 'unusable'
  | 'duplicate-id'
  | 'excluded'
  | 'protected'
  | 'kept'
  | 'email-not-allowed'
  | 'no-email'
  | 'email-taken'
  | 'in-grace'
  | 'undone'
  | 'unproved'
  | 'quarantined'
  | 'rejected'
  | 'held'
  | 'value-kept'

/** Clauses without a full stop: the verdict, the next run, and the remedy. */
export interface Case {
  readonly code: VerdictCode
  readonly why: string
  /** Default: what the plan says. */
  readonly next?: string
  /** A condition of `next`. */
  readonly but?: string
  readonly todo?: string
}

/** `Ana Šimić (user u1)` */
export function titleOf({ kind, id, name }: Pick<Story, 'kind' | 'id' | 'name'>): string {
  const named = id === null ? `${kind} without an id` : `${kind} ${id}`
  return name === null ? `The ${named}` : `${name} (${named})`
}

export function noticeOf<Code extends NoticeCode>(
  { notices }: { readonly notices: readonly Notice[] },
  code: Code,
): NoticeOf<Code> | undefined {
  return notices.find((notice): notice is NoticeOf<Code> => isNotice(notice, code))
}

export function saidOf(facts: Story, code: NoticeCode): string | undefined {
  const notice = noticeOf(facts, code)
  return notice && noticeText(notice)
}

export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

/** Before the entry's name: `delete`, `change the members of`. */
export function verbOf(change: Change | null): string {
  return change?.op === 'set-members' ? 'change the members of' : nounOf(change)
}

/** After the entry's name: `delete it`, `change its members`. */
export function verbAlone(change: Change | null): string {
  return change?.op === 'set-members' ? 'change its members' : `${nounOf(change)} it`
}

/** `its delete`, `its change of members` */
export function nounOf(change: Change | null): string {
  if (change === null) return 'change'
  return change.op === 'set-members' ? 'change of members' : (change.op.split('-')[0] ?? 'change')
}

export function quoted(id: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(id) ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`
}

export function deletionOf(facts: Story): JournalEntry | undefined {
  const last = lastDone(facts)
  return last?.op.startsWith('delete') === true ? last : undefined
}

export const DONE: ReadonlySet<string> = new Set(['applied', 'found', 'already'])

export function lastDone({ journal }: Story): JournalEntry | undefined {
  return journal.find(({ outcome }) => DONE.has(outcome))
}

/** `deleted 2026-11-21 07:29:03Z by run 12, approved by ana` */
export function inWords({ at, run, approvedBy, undoes }: JournalEntry): string {
  const by = approvedBy === null ? '' : `, approved by ${approvedBy === '' ? 'an operator' : approvedBy}`
  const undo = undoes === null ? '' : `, which undid run ${undoes}`
  return `deleted ${pointInTime(at)} by run ${run}${undo}${by}`
}
