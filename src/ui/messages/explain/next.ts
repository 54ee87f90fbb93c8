import type { Change, Op } from '../../../core/plan/change.ts'
import { keysText } from '../../../core/plan/configuration.ts'
import type { Story } from '../../../operations/story.ts'
import { emailWritten } from './part.ts'

export const LEAVES = 'The next run leaves it as it is'

/** What the plan of this entry says; a clause. */
export function nextOf(facts: Story): string {
  const { planned, change, heldRun, configurationChange, sharesEmails } = facts
  if (planned === undefined) {
    if (mayChangeGroups(facts)) return 'The next run changes nothing of it but its groups, where they differ'
    return change === null ? 'The next run does nothing' : LEAVES
  }
  if (planned.op === 'set-members' && change !== null && change.op !== 'set-members')
    return 'The next run leaves its name as it is, and changes its members, unless a check blocks that'
  const does = doing(planned.op)
  // A run ignores earlier holds: it applies what violates no guard now, and ends the hold.
  const what =
    heldRun === null
      ? `The next run ${does}, unless a check blocks it`
      : `Run ${heldRun} needs a decision; the next run plans again, and ${does} unless a check still blocks it`
  const since =
    configurationChange === undefined
      ? ''
      : `; the configuration was changed since run ${configurationChange.since} (${keysText(configurationChange.keys)}), so a guard may stop more than usual`
  const email =
    emailWritten(planned) === undefined || sharesEmails
      ? ''
      : '; its e-mail is not written while another user of the directory keeps it'
  return `${what}${since}${email}`
}

function mayChangeGroups({ kind, change, membership, source, directory }: Story): boolean {
  const isInBoth = source.entries.length > 0 && directory.entry !== null
  return kind === 'user' && membership === 'write' && isInBoth && change === null
}

/** While the sync is paused, only an undo writes. */
export function whilePaused({ paused, sync, heldUndo }: Story, next: string): string {
  const undo =
    heldUndo === undefined
      ? ''
      : `Run ${heldUndo.run}, the undo of run ${heldUndo.undoes}, needs a decision, and ${doing(heldUndo.op)} after an approval. `
  if (paused === null) return `${undo}${next}`
  const nothing = undo === '' ? 'Nothing' : 'Nothing else'
  return `${undo}${nothing} is written while ${sync} is paused; after dirsyncd resume ${sync}, ${next[0]?.toLowerCase()}${next.slice(1)}`
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
