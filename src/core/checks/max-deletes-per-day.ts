import type { Check } from './check.ts'
import { deletesIn, GUARDED } from './tally.ts'

/** With the deletes that nobody approved in the last 24 hours: many small plans add up. */
export const maxDeletesPerDay: Check = {
  name: 'max-deletes-per-day',
  *judge(facts) {
    const all = yield* deletesIn(facts)
    return GUARDED.flatMap((kind) => {
      const { count: deletes, keys } = all[kind]
      const lastDay = facts.journal.unapproved[kind]
      const limit = facts.limits[kind].maxDeletesPerDay
      if (deletes === 0 || lastDay + deletes <= limit) return []
      const params = { kind, deletes, lastDay, limit }
      return [
        { code: `max-deletes-per-day-${kind}`, params, stops: 'plan', until: 'decision', keys } as const,
      ]
    })
  },
}
