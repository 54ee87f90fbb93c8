import { listAt } from '../../base/lists.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { Decisions } from '../decisions.ts'
import { parseKey } from '../keys.ts'
import { type Baseline, containerOf, type EmptiedContainer } from '../plan/baseline.ts'

/** A container that a run asked about stays in doubt, also where some of it is shown again. */
export function* containersAsked(
  decisions: Decisions,
  before: Baseline,
  found: readonly EmptiedContainer[],
  absent: readonly string[],
): Steps<readonly EmptiedContainer[]> {
  const asked = new Set<string | undefined>()
  yield* forEachInSteps(decisions.open(), (text) => {
    if (text !== undefined && decisions.ledger.questions.get(text)?.has('container-emptied') === true)
      asked.add(containerOf(before, parseKey(text)?.[1] ?? ''))
  })
  if (asked.size === 0) return []
  const others = new Map<string, string[]>()
  const known = new Set(found.flatMap(({ ids }) => ids))
  yield* forEachInSteps(absent, (id) => {
    const container = known.has(id) ? undefined : containerOf(before, id)
    if (container !== undefined && asked.has(container)) listAt(others, container).push(id)
  })
  return [...others].map(([container, ids]) => ({ container, ids }))
}
