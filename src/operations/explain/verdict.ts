import type { Op } from '../../core/plan/change.ts'
import { keysText } from '../../core/plan/configuration.ts'
import type { Story } from '../story.ts'
import { absent } from './absent.ts'
import type { Case, VerdictFacts } from './case.ts'
import { differing, same } from './differing.ts'
import { keptBack } from './kept-back.ts'
import { outOfReach } from './out-of-reach.ts'
import { undone } from './undone.ts'
import { directoryDown, sourceDown } from './unreadable.ts'

/** The first reason that fits. */
export function judgementOf(facts: VerdictFacts): Pick<Story, 'verdict' | 'next' | 'todo'> {
  const { code, why, next = nextOf(facts), but, todo } = caseOf(facts)
  return {
    verdict: { code, sentence: `${why}.` },
    next: `${whilePaused(facts, but === undefined ? next : `${next}; ${but}`)}.`,
    todo: todo === undefined ? null : `${todo}.`,
  }
}

function caseOf(facts: VerdictFacts): Case {
  const { source, directory } = facts
  if (source.error !== null) return sourceDown(facts, source.error)
  const reach = source.entries.length === 0 ? undefined : outOfReach(facts)
  if (directory.error !== null) return reach ?? directoryDown(facts, directory.error)
  const kept = keptBack(facts) ?? undone(facts)
  if (kept !== undefined) return kept
  return reach ?? (source.entries.length === 0 ? absent(facts) : (differing(facts) ?? same(facts)))
}

function nextOf(facts: VerdictFacts): string {
  const { planned, heldRun, configurationChange } = facts
  if (planned === undefined)
    return mayChangeGroups(facts)
      ? 'The next run changes nothing of it but its groups, where they differ'
      : 'The next run does nothing'
  const does = DOES[planned.op]
  const since =
    configurationChange === undefined
      ? ''
      : `; the configuration was changed since run ${configurationChange.since} (${keysText(configurationChange.keys)}), so a guard may hold more than usual`
  // A run ignores earlier holds: it applies what violates no guard now, and ends the hold.
  return heldRun === null
    ? `The next run ${does}, unless a guard or the evidence holds it${since}`
    : `Run ${heldRun} waits for a decision; the next run plans again, and ${does} unless a guard or the evidence still holds it${since}`
}

function mayChangeGroups({ kind, membership, source, directory }: VerdictFacts): boolean {
  return kind === 'user' && membership === 'write' && source.entries.length > 0 && directory.entry !== null
}

/** While the sync is paused, only an undo writes. */
function whilePaused({ paused, sync, heldUndo }: VerdictFacts, next: string): string {
  const undo =
    heldUndo === undefined
      ? ''
      : `Run ${heldUndo.run}, the undo of run ${heldUndo.undoes}, waits for a decision, and ${DOES[heldUndo.op]} when somebody approves it. `
  if (paused === null) return `${undo}${next}`
  const nothing = undo === '' ? 'Nothing' : 'Nothing else'
  return `${undo}${nothing} is written while ${sync} is paused; after dirsyncd resume ${sync}, ${next[0]?.toLowerCase()}${next.slice(1)}`
}

const DOES: Readonly<Record<Op, string>> = {
  'create-user': 'creates it',
  'create-group': 'creates it',
  'update-user': 'updates it',
  'update-group': 'updates it',
  'delete-user': 'deletes it',
  'delete-group': 'deletes it',
  'set-members': 'changes its members',
}
