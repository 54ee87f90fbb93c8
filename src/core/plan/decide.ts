import type { BlockReason } from '../block.ts'
import { everyInSteps, filterInSteps, forEachInSteps, type Steps } from '../../base/steps.ts'
import { type Breach, heldChanges } from './guards.ts'

export type Decision = 'approved' | 'rejected'

export type RecordedBreach = Breach & { readonly decided?: Decision }

export type BreachSummary = BlockReason &
  Pick<RecordedBreach, 'waitsFor' | 'decided'> & { readonly changes: number }

/** How many changes the same breaches of a hold name; breaches by index. */
export interface HeldGroup {
  readonly breaches: readonly number[]
  readonly count: number
}

interface Hold {
  readonly state: string
  readonly hold: string | null
  readonly breaches: readonly RecordedBreach[]
}

/**
 * Whether an operator decides about this breach: the plan that a guard holds or, in an applied plan, changes that wait
 * for evidence. Never both, because waiting changes are not in the plan that the operator sees.
 */
function isForPerson(state: string, { waitsFor }: Pick<Breach, 'waitsFor'>): boolean {
  return (waitsFor === undefined) === (state === 'held')
}

export function undecided<T extends Pick<RecordedBreach, 'waitsFor' | 'decided'>>(
  state: string,
  breaches: readonly T[],
): readonly T[] {
  return breaches.filter((breach) => isForPerson(state, breach) && breach.decided === undefined)
}

/** An approval of this finding is about the server, not about changes that a report could show. */
export function isAboutServer({ code }: Pick<Breach, 'code'>): boolean {
  return code === 'server-not-newer'
}

/** Each change counts once, however many guards or findings name it. */
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
 * The breaches that a decision is about: the undecided ones. An approval after the end of the hold is about rejected
 * ones, and an approval by name about either. A rejection of a held plan includes approved ones, because nothing of it
 * was applied.
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

/** An approval releases nothing that another breach of the hold names, unless that one was approved before. */
export function* decidedChanges(
  { state, breaches }: Hold,
  decision: Decision,
  chosen: readonly RecordedBreach[],
): Steps<readonly string[]> {
  const changes = yield* heldChanges(chosen)
  if (decision === 'rejected') return changes
  const others = breaches.filter(
    (breach) => isForPerson(state, breach) && breach.decided !== 'approved' && !chosen.includes(breach),
  )
  const held = new Set<string>()
  for (const { changes: named } of others) yield* forEachInSteps(named, (change) => held.add(change))
  return yield* filterInSteps(changes, (change) => !held.has(change))
}

/** The hold stays open while changes of it are undecided. */
export function* holdAfter(
  { state, breaches }: Hold,
  isDecided: (fingerprint: string) => boolean,
): Steps<'open' | Decision> {
  for (const { changes } of undecided(state, breaches))
    if (!(yield* everyInSteps(changes, isDecided))) return 'open'
  return breaches.some(({ decided }) => decided === 'rejected') ? 'rejected' : 'approved'
}
