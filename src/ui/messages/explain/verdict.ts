import type { Op } from '../../../core/plan/change.ts'
import { keysText } from '../../../core/plan/configuration.ts'
import type { Nobody, Story } from '../../../operations/story.ts'
import { absent, maybeUnread } from './absent.ts'
import { type Case, type VerdictCode, withoutStop } from './case.ts'
import { differing, same } from './differing.ts'
import { keptBack } from './kept-back.ts'
import { outOfReach } from './out-of-reach.ts'
import { undone } from './undone.ts'
import { directoryDown, sourceDown } from './unreadable.ts'

export interface Verdict {
  readonly code: VerdictCode
  /** One sentence, as the next two. */
  readonly sentence: string
}

export interface Judgement {
  readonly verdict: Verdict
  /** What the next run would do; null where no entry is known. */
  readonly next: string | null
  /** What the operator can do; null where nothing has to be done. */
  readonly todo: string | null
}

export function judgementOf(explanation: Story | Nobody): Judgement {
  return explanation.result === 'one' ? judgementOfStory(explanation) : unknown(explanation)
}

/** An entry is not called unknown where one side could not be asked. */
function unknown({ sync, who, searched, error, directoryError, unreadable }: Nobody): Judgement {
  const down = [
    ...maybeUnread(unreadable),
    ...(error === null ? [] : [`the source cannot be read now (${withoutStop(error)})`]),
    ...(directoryError === null
      ? []
      : [`the directory cannot be asked now (${withoutStop(directoryError)})`]),
  ]
  const others = [
    ...(error === null ? [`not in the source${searched === null ? '' : ` (searched ${searched})`}`] : []),
    ...(directoryError === null ? ['not in the directory under this id'] : []),
    `not in the kept runs of ${sync}`,
  ]
  const doubt = down.length === 0 ? '' : `; but ${down.join(', and ')}`
  const code =
    error !== null ? 'source-unreadable' : directoryError !== null ? 'directory-unreadable' : 'never-seen'
  return {
    verdict: { code, sentence: `"${who}" is unknown: ${others.join(', ')}${doubt}.` },
    next: null,
    todo:
      down.length === 0
        ? 'Try the id, the e-mail, the full name or the DN.'
        : `dirsyncd check ${sync} shows what can be read again.`,
  }
}

/** The first reason that fits. */
function judgementOfStory(facts: Story): Judgement {
  const { code, why, next = nextOf(facts), but, todo } = caseOf(facts)
  return {
    verdict: { code, sentence: `${why}.` },
    next: `${whilePaused(facts, but === undefined ? next : `${next}; ${but}`)}.`,
    todo: todo === undefined ? null : `${todo}.`,
  }
}

function caseOf(facts: Story): Case {
  const { source, directory } = facts
  if (source.error !== null) return sourceDown(facts, source.error)
  const reach = source.entries.length === 0 ? undefined : outOfReach(facts)
  if (directory.error !== null) return reach ?? directoryDown(facts, directory.error)
  const kept = keptBack(facts) ?? undone(facts)
  if (kept !== undefined) return kept
  return reach ?? (source.entries.length === 0 ? absent(facts) : (differing(facts) ?? same(facts)))
}

function nextOf(facts: Story): string {
  const { planned, heldRun, configurationChange } = facts
  if (planned === undefined)
    return mayChangeGroups(facts)
      ? 'The next run changes nothing of it but its groups, where they differ'
      : 'The next run does nothing'
  const does = DOES[planned.op]
  const since =
    configurationChange === undefined
      ? ''
      : `; the configuration was changed since run ${configurationChange.since} (${keysText(configurationChange.keys)}), so a guard may stop more than usual`
  // A run ignores earlier holds: it applies what violates no guard now, and ends the hold.
  return heldRun === null
    ? `The next run ${does}, unless a check blocks it${since}`
    : `Run ${heldRun} needs a decision; the next run plans again, and ${does} unless a check still blocks it${since}`
}

function mayChangeGroups({ kind, membership, source, directory }: Story): boolean {
  return kind === 'user' && membership === 'write' && source.entries.length > 0 && directory.entry !== null
}

/** While the sync is paused, only an undo writes. */
function whilePaused({ paused, sync, heldUndo }: Story, next: string): string {
  const undo =
    heldUndo === undefined
      ? ''
      : `Run ${heldUndo.run}, the undo of run ${heldUndo.undoes}, needs a decision, and ${DOES[heldUndo.op]} after an approval. `
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
