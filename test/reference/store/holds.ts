import { isDeepStrictEqual } from 'node:util'
import type { BreachSummary, RecordedBreach } from '../plan/decide.ts'
import type { Breach } from '../plan/guards.ts'
import { decisionsOf } from './decisions.ts'
import type { Ram, Run } from './ram.ts'
import { finishRun, type RunRecord } from './runs.ts'
import type { RunCounts, RunState } from './run-types.ts'

interface NewHold {
  readonly breaches: readonly Breach[]
  readonly counts: RunCounts
}

export function summaries(breaches: readonly RecordedBreach[]): readonly BreachSummary[] {
  return breaches.map((breach) => ({ ...breach, changes: breach.changes.length }))
}

export function heldBreaches(ram: Ram, { run, breaches }: Run): readonly RecordedBreach[] {
  const held = ram.held.get(run) ?? []
  return breaches.map((breach, place) => ({ ...breach, changes: held[place] ?? [] }))
}

export function openHold(ram: Ram): Run | undefined {
  return ram.runs.find(({ hold }) => hold === 'open')
}

export function isExpired(ram: Ram, { hold, hold_expires_at: end }: Run): boolean {
  return hold === 'open' && end !== null && end.getTime() <= ram.now
}

function isOfSingleEntries({ only_entries: only, undo }: Run): boolean {
  return only !== null && undo === null
}

/** Whether the open hold has the same undecided changes as this run; for a run of single entries, at least these. */
async function isHeldBy(
  ram: Ram,
  open: Run,
  run: Run,
  held: { readonly state: RunState; readonly breaches: readonly RecordedBreach[] },
): Promise<boolean> {
  if (!isDeepStrictEqual(open.undo, run.undo)) return false
  if (open.decisions.some(({ part }) => part !== undefined)) return false
  const { approved, rejected } = await decisionsOf(ram, { isUndo: run.undo !== null })
  const waiting = ({ state, breaches }: typeof held) =>
    ram.core
      .heldChanges(ram.core.undecided(state, breaches))
      .filter((print) => !approved.has(print) && !rejected.has(print))
  const before = waiting({ state: open.state, breaches: heldBreaches(ram, open) })
  const now = waiting(held)
  if (!isOfSingleEntries(run)) return before.join() === now.join()
  const all = new Set(before)
  return now.every((print) => all.has(print))
}

export async function holdRun(
  ram: Ram,
  { run: number }: RunRecord,
  state: 'held' | 'done',
  { breaches, counts, lastsMs }: NewHold & { readonly lastsMs: number },
): Promise<void> {
  const run = ram.run(number)
  const open = openHold(ram)
  const isSame =
    open !== undefined && !isExpired(ram, open) && (await isHeldBy(ram, open, run, { state, breaches }))
  await finishRun(ram, number, { state, counts })
  if (open !== undefined && isSame) {
    Object.assign(run, { hold: null, hold_run: open.run })
    return
  }
  if (open?.only_entries === null && isOfSingleEntries(run)) {
    Object.assign(run, { hold: 'replaced', hold_run: open.run })
    return
  }
  if (open !== undefined) endHold(ram, open, isExpired(ram, open) ? 'expired' : 'replaced')
  ram.held.set(
    number,
    breaches.map(({ changes }) => [...new Set(changes)]),
  )
  Object.assign(run, { hold: 'open', hold_run: number, hold_expires_at: new Date(ram.now + lastsMs) })
}

function endHold(ram: Ram, open: Run, hold: 'replaced' | 'expired' | 'closed'): void {
  ram.held.delete(open.run)
  open.hold = hold
}

/** Ends the run as held by the open hold, where that has the same plan. Returns whether it did. */
export async function joinHold(
  ram: Ram,
  { run: number }: RunRecord,
  { breaches, counts, digest }: NewHold & { readonly digest: string },
): Promise<boolean> {
  const run = ram.run(number)
  const open = openHold(ram)
  if (open?.state !== 'held' || open.digest !== digest || isExpired(ram, open)) return false
  if (!(await isHeldBy(ram, open, run, { state: 'held', breaches }))) return false
  await finishRun(ram, number, { state: 'held', counts })
  Object.assign(run, { hold: null, hold_run: open.run })
  return true
}

export async function closeHold(ram: Ram, _sync: string): Promise<void> {
  const open = openHold(ram)
  if (open !== undefined) endHold(ram, open, 'closed')
}
