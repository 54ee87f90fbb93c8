import type { Op } from '../../plan/change.ts'
import { keysText } from '../../plan/configuration.ts'
import type { Story } from '../story.ts'
import { absent } from './absent.ts'
import { type Case, titleOf, type VerdictFacts, withoutStop } from './case.ts'
import { differing, same } from './differing.ts'
import { keptBack } from './kept-back.ts'
import { outOfReach } from './out-of-reach.ts'
import { undone } from './undone.ts'

/** The verdict is the first reason that fits. */
export function judgementOf(facts: VerdictFacts): Pick<Story, 'verdict' | 'next' | 'todo'> {
  const { code, why, next = nextOf(facts), todo } = caseOf(facts)
  return {
    verdict: { code, sentence: `${why}.` },
    next: `${whilePaused(facts, next)}.`,
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

function sourceDown({ sync }: VerdictFacts, error: string): Case {
  return {
    code: 'source-unreadable',
    why: `The source cannot be read now, so only what earlier runs saw is known: ${withoutStop(error)}`,
    next: 'While the source cannot be read, a run changes nothing',
    todo: `dirsyncd check ${sync} shows whether the source can be read again`,
  }
}

function directoryDown(facts: VerdictFacts, error: string): Case {
  const has = facts.source.entries.length === 0 ? 'does not have' : 'has'
  return {
    code: 'directory-unreadable',
    why: `The source ${has} ${titleOf(facts)}, and what the directory has cannot be asked now: ${withoutStop(error)}`,
    next: 'While the directory cannot be read, a run changes nothing',
    todo: `dirsyncd check ${facts.sync} shows whether the directory can be read again`,
  }
}

function nextOf({ planned, heldRun, configurationChange }: VerdictFacts): string {
  if (planned === undefined) return 'The next run does nothing'
  const does = DOES[planned.op]
  const since =
    configurationChange === undefined
      ? ''
      : `; the configuration was changed since run ${configurationChange.since} (${keysText(configurationChange.keys)}), so a guard may hold more than usual`
  // A run does not ask whether an earlier one is held: it applies what breaks no guard now, and ends the hold.
  return heldRun === null
    ? `The next run ${does}, unless a guard or the evidence holds it${since}`
    : `Run ${heldRun} waits for a decision; the next run plans again, and ${does} unless a guard or the evidence still holds it${since}`
}

/** Whatever a run would do, none writes while the sync is paused. */
function whilePaused({ paused, sync }: VerdictFacts, next: string): string {
  if (paused === null) return next
  return `Nothing is written while ${sync} is paused; after dirsyncd resume ${sync}, ${next[0]?.toLowerCase()}${next.slice(1)}`
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
