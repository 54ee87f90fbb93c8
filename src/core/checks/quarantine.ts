import type { Check } from './check.ts'
import { refusedChanges } from './refused.ts'

/** Changes that the service refused for their content. A user whose delete is refused leaves its groups all the same. */
export const quarantine: Check = {
  name: 'quarantine',
  judge: (facts) => refusedChanges(facts, 'quarantine'),
}
