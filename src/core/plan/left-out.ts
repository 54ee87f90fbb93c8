import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { Plan } from './changes.ts'
import type { Breach } from './guards.ts'

/**
 * The changes that an operator left out of a partial approval.
 *
 * @param by the operator who approved the rest of the plan of this run */
export function leftOut(changes: readonly string[], by: string, run: number): Breach {
  return { code: 'left-out', params: { by, run }, changes }
}

export function* stillLeftOut(plan: Plan, before: Breach | undefined): Steps<readonly Breach[]> {
  if (before === undefined) return []
  const left = new Set(before.changes)
  const changes: string[] = []
  yield* forEachInSteps(plan.changes.decidable(), ({ fingerprint: print, wish }) => {
    if (left.has(print) || (wish !== undefined && left.has(wish))) changes.push(print)
  })
  return changes.length === 0 ? [] : [{ ...before, changes }]
}
