import { listAt } from '../../base/lists.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { Decisions } from '../decisions.ts'
import { parseKey } from '../keys.ts'
import { type Baseline, containerOf } from '../plan/baseline.ts'

/** A container that a run asked about stays in doubt, also where some of it is shown again. */
export function* containersAsked(
  decisions: Decisions,
  before: Baseline,
  found: ReadonlyMap<string, readonly string[]>,
  absent: readonly string[],
): Steps<ReadonlyMap<string, readonly string[]>> {
  const asked = new Set<string | undefined>()
  yield* forEachInSteps(decisions.open(), (text) => {
    if (text !== undefined && decisions.asksOf(text).has('container-emptied'))
      asked.add(containerOf(before, parseKey(text)?.[1] ?? ''))
  })
  const others = new Map<string, string[]>()
  if (asked.size === 0) return others
  const known = new Set([...found.values()].flat())
  yield* forEachInSteps(absent, (id) => {
    const container = known.has(id) ? undefined : containerOf(before, id)
    if (container !== undefined && asked.has(container)) listAt(others, container).push(id)
  })
  return others
}
