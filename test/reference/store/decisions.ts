import type { Decision, RecordedBreach } from '../plan/decide.ts'
import { approveForms, formsOf } from './forget-decisions.ts'
import { heldBreaches, isExpired, summaries } from './holds.ts'
import type { Ram, Run } from './ram.ts'
import { addRun, endWaitingRuns } from './runs.ts'

export async function decisionsOf(ram: Ram, { isUndo }: { readonly isUndo: boolean }) {
  const approved = new Set<string>()
  const rejected = new Map<string, string>()
  for (const [print, { decision, run }] of ram.decisions) {
    if ((ram.run(run).undo !== null) !== isUndo) continue
    if (decision === 'approved') approved.add(print)
    if (decision === 'rejected') rejected.set(print, 'was rejected')
  }
  return { approved, rejected }
}

export async function approvedIn(ram: Ram, run: number | null): Promise<ReadonlySet<string>> {
  const approved = [...ram.decisions].filter(([, each]) => each.run === run && each.decision === 'approved')
  return new Set(approved.map(([print]) => print))
}

/** What `dirsyncd approve` and `dirsyncd reject` do. Returns whether the run takes this decision. */
export async function decide(
  ram: Ram,
  number: number,
  { decision, by, only }: { decision: Decision; by: string; only?: readonly string[] | undefined },
): Promise<boolean> {
  const { core } = ram
  const run = ram.run(number)
  const isOpen = run.hold === 'open' && !isExpired(ram, run)
  if (!isOpen && !(run.hold === 'rejected' && decision === 'approved')) return false
  if (run.undo !== null && only !== undefined) return false
  const before = { ...run, breaches: heldBreaches(ram, run) }
  const possible = core.choices(before, decision, only !== undefined)
  if (only?.some((name) => !possible.some(({ guard }) => guard === name))) return false
  const chosen = possible.filter(({ guard }) => only?.includes(guard) ?? true)
  const prints = core.decidedChanges(before, decision, chosen)
  record(ram, run, { decision, by }, prints)
  if (decision === 'rejected' && only === undefined) forgetLeftOut(ram, number)
  const breaches = before.breaches.map((breach) =>
    chosen.includes(breach) ? { ...breach, decided: decision } : breach,
  )
  await settleHold(ram, run, breaches)
  run.decisions = [...run.decisions, { decision, by }]
  if (!isToApply(run, decision)) return true
  if (run.undo !== null) endWaitingRuns(ram)
  addRun(ram, { mode: 'sync', trigger: 'approval', approval_of: number, undo: run.undo })
  return true
}

function record(
  ram: Ram,
  { run }: Run,
  { decision, by }: { readonly decision: Decision; readonly by: string },
  prints: readonly string[],
): void {
  const forms = decision === 'rejected' ? formsOf(ram, run, prints) : []
  for (const print of [...prints, ...forms]) putDecision(ram, print, { decision, run, by })
  if (decision === 'approved') approveForms(ram, run, prints, by)
}

/** An approval of an older hold does not overrule a rejection in a newer one. Returns whether it is stored. */
export function putDecision(
  ram: Ram,
  print: string,
  decided: { decision: Decision; run: number; by: string },
): boolean {
  const before = ram.decisions.get(print)
  if (before?.decision === 'rejected' && decided.decision === 'approved' && before.run > decided.run)
    return false
  ram.decisions.set(print, decided)
  return true
}

function forgetLeftOut(ram: Ram, run: number): void {
  for (const [print, each] of ram.decisions)
    if (each.run === run && each.decision === 'left-out') ram.decisions.delete(print)
}

async function settleHold(ram: Ram, run: Run, breaches: readonly RecordedBreach[]): Promise<void> {
  const { approved, rejected } = await decisionsOf(ram, { isUndo: run.undo !== null })
  run.hold = ram.core.holdAfter({ ...run, breaches }, (print) => approved.has(print) || rejected.has(print))
  run.breaches = summaries(breaches)
  if (run.hold === 'approved') ram.held.delete(run.run)
}

function isToApply({ state, hold, breaches }: Run, decision: Decision): boolean {
  if (decision === 'approved') return !(state === 'held' && hold === 'open')
  return state === 'held' && hold === 'rejected' && breaches.some(({ decided }) => decided === 'approved')
}
