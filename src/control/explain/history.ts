import { type Change, fingerprint } from '../../plan/change.ts'
import {
  approverOf,
  type EntryKey,
  journalOf,
  lastFailureOfSync,
  lastRunAbout,
  openHoldOf,
} from '../../store/entry-history.ts'
import { heldBreaches } from '../../store/held-changes.ts'
import type { JournalEntry, Story, StoryHold } from '../story.ts'
import type { ExplainDeps } from './sides.ts'

const JOURNAL_LINES = 10

/** What earlier runs said of an entry and did with it. */
export async function historyOf(
  { db, target }: ExplainDeps,
  key: EntryKey,
): Promise<Pick<Story, 'lastRun' | 'lastFailure' | 'journal'>> {
  const last = await lastRunAbout(db, target, key)
  const failure = await lastFailureOfSync(db, target)
  const journal: JournalEntry[] = []
  for (const { at, approved, ...line } of await journalOf(db, target, key, JOURNAL_LINES)) {
    const approvedBy = approved ? ((await approverOf(db, target, line.run)) ?? '') : null
    journal.push({ ...line, at: at.toISOString(), approvedBy })
  }
  return {
    lastRun: last === undefined ? null : { ...last, at: last.at.toISOString() },
    lastFailure: failure === undefined ? null : { ...failure, at: failure.at.toISOString() },
    journal,
  }
}

/** Whether a hold waits with this change, and which run holds everything. */
export async function holdOf(
  { db, target }: ExplainDeps,
  change: Change | undefined,
): Promise<{ readonly ofChange: StoryHold | null; readonly heldRun: number | null }> {
  const hold = await openHoldOf(db, target)
  if (hold === undefined) return { ofChange: null, heldRun: null }
  const { run, state, breaches } = hold
  const isPlanHeld = state === 'held'
  const print = change === undefined ? '' : fingerprint(change)
  const naming = (await heldBreaches(db, run, breaches)).filter(
    ({ changes, decided }) => decided === undefined && changes.includes(print),
  )
  const named = naming.map(({ guard, detail }) => ({ guard, detail }))
  return {
    ofChange: named.length === 0 ? null : { run, isPlanHeld, breaches: named },
    heldRun: isPlanHeld ? run : null,
  }
}
