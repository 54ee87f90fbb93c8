import type { Steps } from '../base/steps.ts'
import type { Moment } from '../core/checks/check.ts'
import type { RunFacts } from '../core/checks/run-facts.ts'
import type { States } from '../core/checks/states.ts'
import type { Origin } from './origin.ts'
import type { Job } from './run-store.ts'

/**
 * What the next run has to know. A run of a part, of an undo or on a doubted server saves only what it knows with its
 * plan, and a dry run nothing.
 */
export function* nextStates(
  origin: Origin,
  job: Job,
  facts: RunFacts,
  moment: Moment,
): Steps<Partial<States>> {
  if (job.isDry || (moment.at === 'end' && !isOfAll(origin, job, facts))) return {}
  let next: Partial<States> = {}
  for (const check of [...origin.rules, ...origin.anomalies, ...origin.guards])
    if (check.next !== undefined) next = { ...next, ...(yield* check.next(facts, moment)) }
  return next
}

/** Whether a run read all of a source whose server is not doubted, and may change all of it. */
export function isOfAll(origin: Origin, { scope }: Job, { isPartial, server }: RunFacts): boolean {
  return scope === undefined && !isPartial && origin.name === 'sync' && server?.trouble === undefined
}
