import type { HeldUndo } from './history.ts'
import type { NoticeCode } from '../../core/entries/snapshot.ts'
import { pointInTime } from '../../base/wording.ts'
import type { Change } from '../../core/plan/change.ts'
import type { ConfigurationChange } from '../../core/plan/configuration.ts'
import type { Membership } from '../../core/plan/policy.ts'
import type { JournalEntry, Story, VerdictCode } from '../story.ts'

export interface VerdictFacts extends Omit<Story, 'result' | 'who' | 'email' | 'verdict' | 'next' | 'todo'> {
  /** What a run would plan from this entry alone. */
  readonly planned: Change | undefined
  readonly isAbsenceKnown: boolean
  /** `off` also where the source has no members. */
  readonly membership: Membership
  /** Options changed since the last completed run. */
  readonly configurationChange: ConfigurationChange | undefined
  readonly completedRun: number | null
  /** Whether both sides of a group list the same members; null where `planned` does not come from the members. */
  readonly sameMembers: boolean | null
  readonly sharesEmails: boolean
  /** The run whose guards hold everything, until a decision or a later plan without violations. */
  readonly heldRun: number | null
  readonly heldUndo: HeldUndo | undefined
}

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
export function titleOf({ kind, id, name }: Pick<VerdictFacts, 'kind' | 'id' | 'name'>): string {
  const named = id === null ? `${kind} without an id` : `${kind} ${id}`
  return name === null ? `The ${named}` : `${name} (${named})`
}

export function noticeOf({ notices }: VerdictFacts, code: NoticeCode): string | undefined {
  return notices.find((notice) => notice.code === code)?.detail
}

/** Details of notices may begin with the name, which the sentence already has. */
export function afterName({ name }: VerdictFacts, detail: string): string {
  return name !== null && detail.startsWith(name) ? detail.slice(detail.indexOf(': ') + 2) : detail
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

export function answerIn(detail: string): string {
  return detail.replace(/^[A-Z]+ \S+ at \S+ failed: /, '')
}

export function quoted(id: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(id) ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`
}

export function deletionOf(facts: VerdictFacts): JournalEntry | undefined {
  const last = lastDone(facts)
  return last?.op.startsWith('delete') === true ? last : undefined
}

export const DONE: ReadonlySet<string> = new Set(['applied', 'found', 'already'])

export function lastDone({ journal }: VerdictFacts): JournalEntry | undefined {
  return journal.find(({ outcome }) => DONE.has(outcome))
}

/** `deleted 2026-11-21 07:29:03Z by run 12, approved by ana` */
export function inWords({ at, run, approvedBy, undoes }: JournalEntry): string {
  const by = approvedBy === null ? '' : `, approved by ${approvedBy === '' ? 'a person' : approvedBy}`
  const undo = undoes === null ? '' : `, which undid run ${undoes}`
  return `deleted ${pointInTime(at)} by run ${run}${undo}${by}`
}
