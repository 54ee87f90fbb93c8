import type { Change, Op } from '../../../core/plan/change.ts'
import { keysText } from '../words.ts'
import type { Story } from '../../../operations/story.ts'
import { emailWritten } from './part.ts'

export const LEAVES = 'The next run leaves it as it is'

export function nextOf(facts: Story): string {
  const { planned, difference, lastRun, configurationChange, sharesEmails } = facts
  if (planned === null) {
    if (mayChangeGroups(facts)) return 'The next run changes nothing of it but its groups, where they differ'
    return difference === null ? 'The next run does nothing' : LEAVES
  }
  const does = doing(planned.op)
  const what =
    lastRun?.state === 'held'
      ? `Run ${lastRun.run} was held; the next run plans again, and ${does} unless a check still blocks it`
      : `The next run ${does}, unless a check blocks it`
  const since =
    configurationChange === null
      ? ''
      : `; the configuration was changed since run ${configurationChange.since} (${keysText(configurationChange.keys)}), so a guard may stop more than usual`
  const email =
    emailWritten(planned) === undefined || sharesEmails
      ? ''
      : '; its e-mail is not written while another user of the directory keeps it'
  return `${what}${since}${email}`
}

function mayChangeGroups({ kind, difference, membership, source, directory }: Story): boolean {
  const isInBoth = source.entries.length > 0 && directory.entry !== null
  return kind === 'user' && membership === 'write' && isInBoth && difference === null
}

/** While the sync is paused, only an undo writes. */
export function whilePaused({ paused, sync }: Story, next: string): string {
  if (paused === null) return next
  return `Nothing is written while ${sync} is paused; after dirsyncd resume ${sync}, ${next[0]?.toLowerCase()}${next.slice(1)}`
}

function doing(op: Op): string {
  return op === 'set-members' ? 'changes its members' : `${verbIn(op)}s it`
}

/** `delete`, `change of members` */
export function nounOf(change: Change | null): string {
  if (change === null) return 'change'
  return change.op === 'set-members' ? 'change of members' : verbIn(change.op)
}

function verbIn(op: Op): string {
  return op.slice(0, op.indexOf('-'))
}
