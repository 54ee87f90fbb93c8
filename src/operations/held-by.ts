import { type BreachView, holdBefore, type RunSummary } from './control.ts'
import { total } from './total.ts'

export interface Titled {
  readonly title: string
  readonly breaches: readonly BreachView[]
}

/** The guards that hold the plan of a run, or held it before an approval. */
export function guardsOf(run: RunSummary): Titled {
  return { title: guardsTitle(run), breaches: guards(run) }
}

/** Changes that the evidence does not prove, left out of the plan. */
export function findingsOf(run: RunSummary): Titled {
  return {
    title: findingsTitle(run),
    breaches: run.breaches.filter(({ waitsFor }) => waitsFor !== undefined),
  }
}

/** A plan that the next sync applies, because the operator approved all that a guard would hold. */
export function isApprovedPlan(run: RunSummary): boolean {
  return run.mode === 'plan' && guards(run).every(({ decided }) => decided === 'approved')
}

function guards({ breaches }: RunSummary): readonly BreachView[] {
  return breaches.filter(({ waitsFor }) => waitsFor === undefined)
}

const APPROVED = 'Approved by a person, in spite of'

function guardsTitle(run: RunSummary): string {
  const { mode, state, hold, approved, undo } = run
  if (mode === 'plan')
    return isApprovedPlan(run) ? APPROVED : `${undo === null ? 'A sync' : 'The undo'} would be held by`
  if (state === 'applying' || state === 'done' || (state === 'failed' && approved)) return APPROVED
  if (hold === null || holdBefore(run) !== undefined) return 'Held by'
  return hold === 'open' ? 'Held by' : `Held by (${hold} since)`
}

function findingsTitle({ mode, state, counts, hold }: RunSummary): string {
  if (mode === 'plan' || state === 'held') return 'Not proved, so it is no part of this plan'
  const isRestApplied = state === 'done' && total(counts?.planned ?? {}) > 0
  const since = hold === null || hold === 'open' ? '' : ` (${hold} since)`
  return `Not proved, so it waits${isRestApplied ? '; the rest was applied' : ''}${since}`
}
