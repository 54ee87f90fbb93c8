import type { Check } from './check.ts'
import { refusedChanges } from './refused.ts'

/** Changes that the service accepted twice without effect. */
export const notPersisted: Check = {
  name: 'not-persisted',
  judge: (facts) => refusedChanges(facts, 'not-persisted'),
}
