import { forEachInSteps, type Steps } from '../directory/steps.ts'
import type { Plan } from './changes.ts'
import type { Breach } from './guards.ts'

/** Holds what a person left out who approved only a part of a plan. */
const LEFT_OUT = 'left-out'

/** @param by who approved the rest, of the hold of this run */
export function leftOut(changes: readonly string[], by: string, run: number): Breach {
  return { guard: LEFT_OUT, detail: `left out when ${by} approved a part of run ${run}`, changes }
}

/** The changes that were left out before and are still planned. */
export function* stillLeftOut(plan: Plan, before: Breach | undefined): Steps<readonly Breach[]> {
  if (before === undefined) return []
  const left = new Set(before.changes)
  const changes: string[] = []
  yield* forEachInSteps(plan.changes.decidable(), ({ fingerprint: print, wish }) => {
    if (left.has(print) || (wish !== undefined && left.has(wish))) changes.push(print)
  })
  return changes.length === 0 ? [] : [{ ...before, changes }]
}
