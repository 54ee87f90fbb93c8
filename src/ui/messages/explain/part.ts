import type { BlockCode } from '../../../core/block.ts'
import { isNotice, type Notice, type NoticeCode, type NoticeOf } from '../../../core/notice.ts'
import type { Change } from '../../../core/plan/change.ts'
import type { JournalEntry, Story } from '../../../operations/story.ts'

export const VERDICTS = {
  'never-seen': 'neither the source, the directory nor a kept run has it',
  'source-unreadable': 'the source could not be asked',
  'directory-unreadable': 'the directory could not be asked',
  unchanged: 'source and directory are equal',
  changed: 'source and directory differ, and the next run changes the directory',
  failed: 'the last run tried the change, and it failed',
  absent: 'neither the source nor the directory has it; only earlier runs knew it, or deleted it',
  'left-filter': "outside the sync's filter",
  'other-base': "outside the sync's base",
  'not-an-entry': 'the DN is an OU or another container',
  undone: 'the last change of it was an undo',
} as const satisfies Readonly<Record<string, string>>

export type VerdictCode = keyof typeof VERDICTS | NoticeCode | BlockCode

/** One fact about an entry. The texts are the verdict; code, next run and remedy are the first ones given. */
export interface Part {
  readonly code?: VerdictCode | undefined
  readonly text?: string | undefined
  readonly next?: string | undefined
  readonly todo?: string | undefined
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

export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

export function quoted(id: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(id) ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`
}

export const KEEP = 'If it should stay, put it back into the source'

const DONE: ReadonlySet<string> = new Set(['applied', 'found', 'already'])

export function doneIn({ journal }: Story): readonly JournalEntry[] {
  return journal.filter(({ outcome }) => DONE.has(outcome))
}

export function deletionOf(facts: Story): JournalEntry | undefined {
  const [last] = facts.directory.entry === null ? doneIn(facts) : []
  return last?.op.startsWith('delete') === true ? last : undefined
}

/** `, approved by ana`; the name may not be kept. */
export function approvalText({ approvedBy }: Pick<JournalEntry, 'approvedBy'>): string {
  return approvedBy === null ? '' : approvedBy === '' ? ', approved' : `, approved by ${approvedBy}`
}

/** The directory's API finds users by id only, so the owner of an e-mail is unknown. */
export function emailWritten(change: Change | null | undefined): string | undefined {
  return change?.op === 'create-user' || change?.op === 'update-user' ? change.want.email : undefined
}
