import { amount } from '../../../base/wording.ts'
import { canonicalEmail } from '../../../core/entries/normalize.ts'
import { type Faulty, isNotice, type NoticeCode } from '../../../core/notice.ts'
import type { Story } from '../../../operations/story.ts'
import { NOTICES, noticeText } from '../notices.ts'
import { blocked } from './decisions.ts'
import { LEAVES } from './next.ts'
import { emailWritten, noticeOf, type Part } from './part.ts'

export function noticed(facts: Story, codes: readonly NoticeCode[], more: Part = {}): Part[] {
  return codes.flatMap((code) => {
    const notice = noticeOf(facts, code)
    if (notice === undefined) return []
    return [{ code, text: noticeText(notice), todo: NOTICES[code].remedy, ...more }]
  })
}

export function unusable(facts: Story): Part[] {
  const faulty = noticed(facts, ['duplicate-id', 'unreadable', 'no-name', 'members-hidden'])
  return [
    ...faulty.map((part) => ({ ...part, text: `it cannot be used: ${part.text}` })),
    ...noticed(facts, ['excluded', 'email-not-allowed']),
  ].map((part) => ({ ...part, next: LEAVES }))
}

export function stopped(facts: Story): Part | undefined {
  const [first] = [
    ...unusable(facts),
    ...unseen(facts),
    ...[blocked(facts)].filter((part) => part !== undefined),
    ...noticed(facts, ['duplicate-email']),
    ...inLastRun(facts),
  ]
  return first
}

/** Before a run has found the entry absent, its grace period has not begun. */
function unseen(facts: Story): readonly Part[] {
  const part = blocked(facts)
  if (part?.code !== 'grace' || facts.isAbsenceKnown) return []
  return [{ ...part, text: 'no run has found it absent yet, so its grace period begins with the next run' }]
}

function inLastRun({ lastRun, planned }: Story): Part[] {
  const said = lastRun?.notices.find(
    (notice) =>
      (notice.code === 'shared-id' && planned?.op.startsWith('delete') === true) ||
      (isNotice(notice, 'duplicate-email') &&
        canonicalEmail(emailWritten(planned) ?? '') === notice.params.email),
  )
  if (lastRun === null || said === undefined) return []
  const todo =
    said.code === 'duplicate-email'
      ? 'dirsyncd explain shows why the other user keeps the e-mail'
      : NOTICES[said.code].remedy
  return [{ code: said.code, text: `run ${lastRun.run}: ${noticeText(said)}`, todo }]
}

/** An unreadable row may have the entry; nothing where all rows were readable. */
export function maybeUnread([first, ...others]: readonly Faulty[]): string | undefined {
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${amount(others.length, 'more entry')}`
  return `but it may be in an entry that cannot be read (${first.from}: ${first.fault}${more})`
}
