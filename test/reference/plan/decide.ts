import { type Breach, heldChanges } from './guards.ts'

export type Decision = 'approved' | 'rejected'

/** A breach as its run keeps it. */
export interface RecordedBreach extends Breach {
  /** What a person decided about it, and who it was. */
  readonly decided?: Decision
}

/** A breach with the number of its changes. */
export interface BreachSummary extends Omit<RecordedBreach, 'changes'> {
  readonly changes: number
}

/** How many changes of a hold the same breaches name, given by their places. */
export interface HeldGroup {
  readonly breaches: readonly number[]
  readonly count: number
}

/** A run that holds changes. */
interface Hold {
  readonly state: string
  readonly hold: string | null
  readonly breaches: readonly RecordedBreach[]
}

/**
 * Whether a person decides on this breach: the plan that a guard holds, or, of a plan that was applied, what waits for
 * evidence. Never both at once, because what waits is not in the plan that the person sees.
 */
function isForPerson(state: string, { waitsFor }: Pick<Breach, 'waitsFor'>): boolean {
  return (waitsFor === undefined) === (state === 'held')
}

/** What nobody has decided on yet. */
export function undecided<T extends Pick<RecordedBreach, 'waitsFor' | 'decided'>>(
  state: string,
  breaches: readonly T[],
): readonly T[] {
  return breaches.filter((breach) => isForPerson(state, breach) && breach.decided === undefined)
}

/** An approval of this finding is about the server, not about changes that a report could show. */
export function isAboutServer({ guard }: Pick<Breach, 'guard'>): boolean {
  return guard === 'server-not-newer'
}

/** How many changes nobody has decided on yet, each once, however many guards or findings name it. */
export function countUndecided(
  { state, breaches }: { readonly state: string; readonly breaches: readonly BreachSummary[] },
  groups: readonly HeldGroup[],
): number {
  const waiting = new Set(undecided(state, breaches).filter((breach) => !isAboutServer(breach)))
  let count = 0
  for (const group of groups) {
    if (group.breaches.some((place) => waiting.has(breaches[place]!))) count += group.count
  }
  return count
}

/**
 * What a decision is about: what nobody has decided on yet. An approval after the end of the hold is about what was
 * rejected, and an approval by name may be about either. A rejection of a held plan is about what was approved, too,
 * because nothing of it was applied.
 */
export function choices(
  { state, hold, breaches }: Hold,
  decision: Decision,
  byName: boolean,
): readonly RecordedBreach[] {
  const before = breaches.filter((breach) => isForPerson(state, breach) && breach.changes.length > 0)
  if (decision === 'approved' && (byName || hold !== 'open'))
    return before.filter(({ decided }) => decided !== 'approved')
  if (decision === 'rejected' && state === 'held')
    return before.filter(({ decided }) => decided !== 'rejected')
  return before.filter(({ decided }) => decided === undefined)
}

/**
 * The fingerprints that a decision on the chosen breaches decides about. An approval releases nothing that another
 * breach of the hold names, unless that one was approved before.
 */
export function decidedChanges(
  { state, breaches }: Hold,
  decision: Decision,
  chosen: readonly RecordedBreach[],
): readonly string[] {
  const changes = heldChanges(chosen)
  if (decision === 'rejected') return changes
  const others = breaches.filter(
    (breach) => isForPerson(state, breach) && breach.decided !== 'approved' && !chosen.includes(breach),
  )
  const held = new Set(heldChanges(others))
  return changes.filter((change) => !held.has(change))
}

/** What becomes of the hold: it stays open while changes of it are undecided. */
export function holdAfter(
  { state, breaches }: Hold,
  isDecided: (fingerprint: string) => boolean,
): 'open' | Decision {
  if (!heldChanges(undecided(state, breaches)).every(isDecided)) return 'open'
  return breaches.some(({ decided }) => decided === 'rejected') ? 'rejected' : 'approved'
}
