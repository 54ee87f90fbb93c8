import type { RecordedBreach } from '../../../src/core/plan/decide.ts'

/** The store in RAM names a breach by its `guard`, and the present decider by its `code`. */
export function inBothForms(breaches: readonly RecordedBreach[]) {
  return breaches.map((breach) => ({ ...breach, guard: breach.code, detail: '' }))
}
