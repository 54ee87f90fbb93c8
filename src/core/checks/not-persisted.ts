import type { Check } from './check.ts'
import { refusedChanges } from './refused.ts'
import type { RunFacts } from './run-facts.ts'

/** Changes that the service accepted twice without effect. */
export const notPersisted: Check<RunFacts> = {
  name: 'not-persisted',
  judge: (facts) => refusedChanges(facts, 'not-persisted'),
}
