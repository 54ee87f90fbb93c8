import { type Change, fingerprint } from '../../core/plan/change.ts'
import { undecided } from '../../core/plan/decide.ts'
import {
  type EntryKey,
  journalOf,
  lastFailureOfSync,
  lastRunAbout,
  openHoldOf,
  plannedChanges,
} from '../../store/entry-history.ts'
import { heldBreaches } from '../../store/held-changes.ts'
import type { BlockReason } from '../../core/block.ts'
import type { Story } from '../story.ts'
import type { ExplainDeps } from './sides.ts'

const JOURNAL_LINES = 10

/** Notices and changes of earlier runs; without a key, only the runs. */
export async function historyOf(
  { db, target }: Pick<ExplainDeps, 'db' | 'target'>,
  key: EntryKey | undefined,
): Promise<Pick<Story, 'lastRun' | 'lastFailure' | 'journal'>> {
  const lines = key === undefined ? [] : await journalOf(db, target, key, JOURNAL_LINES)
  const changedIn = lines.map(({ run }) => run)
  const last = await lastRunAbout(db, target, key, changedIn)
  const failure = await lastFailureOfSync(db, target)
  return {
    lastRun: last === undefined ? null : { ...last, at: last.at.toISOString() },
    lastFailure: failure === undefined ? null : { ...failure, at: failure.at.toISOString() },
    journal: lines.map((line) => ({ ...line, at: line.at.toISOString() })),
  }
}

interface HoldOfEntry extends Pick<Story, 'hold' | 'heldRun' | 'heldUndo'> {
  readonly held?: Change
}

const NO_HOLD: HoldOfEntry = { hold: null, heldRun: null, heldUndo: undefined }

/**
 * Whether a hold waits with this change, or with the members of this group.
 *
 * @param areMembersKnown whether `change` would be the members, if they differ
 */
export async function holdOf(
  { db, target }: Pick<ExplainDeps, 'db' | 'target'>,
  { kind, id }: EntryKey,
  change: Change | undefined,
  areMembersKnown: boolean,
): Promise<HoldOfEntry> {
  const hold = await openHoldOf(db, target)
  if (hold === undefined) return NO_HOLD
  const { run, state, breaches, undo } = hold
  if (undo !== null) {
    const [first] = await plannedChanges(db, run, { kind, id })
    return { ...NO_HOLD, heldUndo: first && { run, undoes: undo.run, op: first.change.op } }
  }
  const isPlanHeld = state === 'held'
  const waiting = undecided(state, await heldBreaches(db, run, breaches))
  const mayBeMembers = kind === 'group' && (change?.op === 'set-members' || !areMembersKnown)
  const own = change === undefined ? [] : [{ fingerprint: fingerprint(change), change }]
  // Only a run knows the present owner of the e-mail that the entry gets.
  const stored = (await plannedChanges(db, run, { kind, id })).filter(
    (planned) =>
      (mayBeMembers && planned.change.op === 'set-members') ||
      own.some((each) => planned.wish === each.fingerprint),
  )
  for (const { fingerprint: print, change: held } of [...own, ...stored]) {
    const naming = waiting.filter(({ changes }) => changes.includes(print))
    if (naming.length === 0) continue
    const named = naming.map(({ code, params }) => ({ code, params }) as BlockReason)
    return { ...NO_HOLD, hold: { run, isPlanHeld, breaches: named }, held, heldRun: isPlanHeld ? run : null }
  }
  return { ...NO_HOLD, heldRun: isPlanHeld ? run : null }
}
