import type { Breach } from '../plan/guards.ts'
import type { Only } from '../plan/inputs.ts'
import type { Part } from '../plan/part/part.ts'
import { summaries } from './holds.ts'
import { outcomesAtEnd } from './plans.ts'
import type { Ram, Run } from './ram.ts'
import type { RunCounts, RunMode, RunState, RunTrigger, Undo } from './run-types.ts'

export type RunRecord = Run

export interface NewRun {
  readonly mode: RunMode
  readonly trigger: RunTrigger
  readonly only_entries?: Only | null
  readonly part?: Part | null
  readonly undo?: Undo | null
  readonly approval_of?: number | null
}

const NO_ENTRIES: Only = { users: [], groups: [] }

export function addRun(ram: Ram, run: NewRun): number {
  const isWhole = (run.undo ?? null) === null && (run.part ?? null) === null
  const number = ram.runs.length + 1
  ram.runs.push({
    part: null,
    undo: null,
    approval_of: null,
    ...run,
    only_entries: isWhole ? (run.only_entries ?? null) : NO_ENTRIES,
    run: number,
    sync: 's',
    target: 't',
    state: 'waiting',
    isFinished: false,
    storedChanges: 0,
    counts: null,
    digest: null,
    breaches: [],
    hold: null,
    hold_run: null,
    hold_expires_at: null,
    decisions: [],
  })
  return number
}

export function nextWaitingRun(ram: Ram): Run | undefined {
  return ram.runs.find(({ state }) => state === 'waiting')
}

/** Ends every begun run; the next one goes on from there, unless a full run waits already. */
export async function interruptRuns(ram: Ram): Promise<void> {
  for (const run of ram.runs.filter(({ isFinished, state }) => !isFinished && state !== 'waiting')) {
    run.state = 'failed'
    run.isFinished = true
    if (run.counts !== null) run.counts = { ...run.counts, outcomes: await outcomesAtEnd(ram, run.run) }
    const { mode, trigger, only_entries, part, undo, approval_of } = run
    const isPlain = mode === 'sync' && undo === null && part === null
    const waits = ram.runs.some(
      (each) => each.state === 'waiting' && each.mode === 'sync' && each.only_entries === null,
    )
    if (!(isPlain && waits)) addRun(ram, { mode, trigger, only_entries, part, undo, approval_of })
  }
}

/** As a pause does, which comes with each undo. */
export function endWaitingRuns(ram: Ram): void {
  for (const run of ram.runs)
    if (run.state === 'waiting' && run.mode === 'sync' && run.undo === null)
      Object.assign(run, { state: 'failed', isFinished: true })
}

export async function findRun(ram: Ram, run: number): Promise<Run> {
  return ram.run(run)
}

export async function setRunState(
  ram: Ram,
  run: number,
  state: RunState,
  { counts, digest, breaches }: { counts?: RunCounts; digest?: string; breaches?: readonly Breach[] } = {},
): Promise<void> {
  Object.assign(ram.run(run), {
    state,
    ...(counts !== undefined && { counts }),
    ...(digest !== undefined && { digest }),
    ...(breaches !== undefined && { breaches: summaries(breaches) }),
  })
}

export async function finishRun(
  ram: Ram,
  run: number,
  { state, counts }: { state: RunState; counts?: RunCounts | undefined },
): Promise<void> {
  Object.assign(ram.run(run), { state, isFinished: true, ...(counts !== undefined && { counts }) })
}
