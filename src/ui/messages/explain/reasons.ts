import { amount } from '../../../base/wording.ts'
import { canonicalEmail } from '../../../core/entries/normalize.ts'
import { type Faulty, isNotice, type NoticeCode, type NoticeParams } from '../../../core/notice.ts'
import { membersDifference } from '../../../core/plan/change.ts'
import type { Story } from '../../../operations/story.ts'
import { NOTICES, noticeTextAlone } from '../notices.ts'
import { rejection } from './decisions.ts'
import { LEAVES } from './next.ts'
import { emailWritten, noticeOf, type Part } from './part.ts'
import { membersThere } from './where.ts'

export const KEEP = 'If it should stay, put it back into the source'

/** The notice in its own words, and its remedy. */
export function noticed(facts: Story, codes: readonly NoticeCode[], more: Part = {}): Part[] {
  return codes.flatMap((code) => {
    const notice = noticeOf(facts, code)
    if (notice === undefined) return []
    return [{ code, text: noticeTextAlone(notice), todo: NOTICES[code].remedy, ...more }]
  })
}

/** Why the source's entry is not used; known without the directory. */
export function unusable(facts: Story): Part[] {
  const faulty = noticed(facts, ['duplicate-id', 'unreadable', 'no-name', 'members-hidden'])
  return [
    ...faulty.map((part) => ({ ...part, text: `it cannot be used: ${part.text}` })),
    ...noticed(facts, ['excluded', 'email-not-allowed']),
  ].map((part) => ({ ...part, next: LEAVES }))
}

/** Why the next run does not make the change; the first reason that fits. */
export function stopped(facts: Story): Part | undefined {
  const [first] = [
    ...unusable(facts),
    ...noticed(facts, ['protected', 'kept-by-policy', 'kept-unproved'], { next: LEAVES }),
    ...inGrace(facts),
    ...noticed(facts, ['reborn'], {
      next: 'The next run creates it only if a day has passed since its delete, or after an approval',
      todo: howToApprove(facts),
    }),
    ...noticed(facts, ['duplicate-email']),
    ...inLastRun(facts),
  ]
  return first
}

/** The memberships are removed before the delete. */
function inGrace(facts: Story): Part[] {
  const { kind, membership, isAbsenceKnown } = facts
  const leavesGroups = kind === 'user' && membership === 'write'
  return noticed(facts, ['in-grace'], {
    ...(!isAbsenceKnown && {
      text: 'no run has found it absent yet, so its grace period begins with the next run',
    }),
    next: leavesGroups
      ? `${LEAVES}, but takes it out of the groups of the sync, unless a check blocks that`
      : LEAVES,
    todo: KEEP,
  })
}

/** What only a run of the whole sync knows: its evidence, and the other entries. */
function inLastRun(facts: Story): Part[] {
  const { lastRun } = facts
  const said = lastRun?.notices.find(({ code, params }) => STILL_TRUE[code]?.(params as never, facts))
  if (lastRun === null || said === undefined) return []
  if (isNotice(said, 'rejected'))
    return [{ ...rejection(facts, said.params, 'its change of members'), next: LEAVES }]
  const part = { code: said.code, text: `run ${lastRun.run}: ${noticeTextAlone(said)}` }
  if (isNotice(said, 'duplicate-email'))
    return [{ ...part, todo: 'dirsyncd explain shows why the other user keeps the e-mail' }]
  const next = 'The next run makes the change only if its read confirms it, or after an approval'
  return [{ ...part, next, todo: howToApprove(facts) }]
}

type Test<Code extends NoticeCode> = (params: NoticeParams[Code], facts: Story) => boolean

const isDeleted: Test<NoticeCode> = (_params, { planned }) => planned?.op.startsWith('delete') === true

/** Whether the last run may still be right about the change that is planned now. */
const STILL_TRUE: { readonly [Code in NoticeCode]?: Test<Code> } = {
  unproved: ({ op }, { planned }) => planned?.op === op,
  'seen-again': isDeleted,
  'kept-unproved': isDeleted,
  'shared-id': isDeleted,
  'duplicate-email': ({ email }, { planned }) => canonicalEmail(emailWritten(planned) ?? '') === email,
  'members-kept': (_params, facts) =>
    facts.planned?.op === 'set-members'
      ? membersDifference(facts.planned).removed.length > 0
      : mayDiffer(facts),
  rejected: ({ op }, facts) => op === 'set-members' && mayDiffer(facts),
}

/** Whether the members of the group may differ: only a run compares them. */
function mayDiffer(facts: Story): boolean {
  const { planned, sameMembers, source } = facts
  return planned === undefined && sameMembers === null && source.entries[0]?.members !== membersThere(facts)
}

/** Only a run that holds a change can be approved. */
function howToApprove({ lastRun, sync }: Story): string {
  const isBlocked = lastRun?.notices.some(({ code }) => DOUBTS.has(code)) === true
  const run = isBlocked ? `dirsyncd runs ${lastRun.run}` : `dirsyncd sync ${sync}`
  return `${run} lists the blocked changes, and the run that dirsyncd approve takes`
}

const DOUBTS: ReadonlySet<NoticeCode> = new Set(['reborn', 'unproved', 'members-kept'])

/** An unreadable row may have the entry; nothing where all rows were readable. */
export function maybeUnread([first, ...others]: readonly Faulty[]): string | undefined {
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${amount(others.length, 'more entry')}`
  return `but it may be in an entry that cannot be read (${first.from}: ${first.fault}${more})`
}
