import { isNotice, type Notice, type NoticeCode, type NoticeOf } from '../../../core/notice.ts'
import { noticeText } from '../notices.ts'
import { pointInTime } from '../../../base/wording.ts'
import type { Change } from '../../../core/plan/change.ts'
import type { JournalEntry, Story } from '../../../operations/story.ts'

/** What each code means; the sentence of a verdict has the reason and the remedy. */
export const VERDICTS = {
  'never-seen': 'neither the source, the directory nor a kept run has it',
  'source-unreadable': 'the source could not be asked',
  'directory-unreadable': 'the directory could not be asked',
  unchanged: 'source and directory are equal',
  changed: 'source and directory differ, and the next run changes the directory',
  failed: 'the last run tried the change, and it failed',
  deleted: 'a run deleted it, and the source does not have it',
  absent: 'neither the source nor the directory has it; only earlier runs knew it',
  'left-filter': "outside the sync's filter",
  'other-base': "outside the sync's base",
  'not-an-entry': 'the DN is an OU or another container',
  disabled: 'the account is disabled in the source',
  unusable: 'the entry of the source cannot be used as it is',
  'duplicate-id': 'several entries of the source have its id',
  excluded: 'excluded by the lists of the sync',
  protected: 'not deleted: it is on the list protected',
  kept: 'left as it is by policy, directory.membership or unreadable entries',
  'email-not-allowed': 'not written: the e-mail is no address, or outside the allowed domains',
  'no-email': 'in the directory without an e-mail',
  'email-taken': 'written without its e-mail, which another user has',
  'in-grace': 'absent, and deleted after the grace period',
  undone: 'the last change of it was an undo',
  unproved: 'not changed yet: the read does not confirm it',
  quarantined: 'in quarantine: the service refused the change',
  rejected: 'an operator rejected the change',
  held: 'a guard holds the plan with its change',
  'value-kept': 'the source has no value, so the directory keeps its own',
} as const satisfies Readonly<Record<string, string>>

export type VerdictCode = keyof typeof VERDICTS

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
