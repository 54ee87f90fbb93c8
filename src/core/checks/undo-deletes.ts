import { union } from '../keys.ts'
import type { Check } from './check.ts'
import { deletesIn } from './tally.ts'

/** An undo deletes what its run created: people may work with it by now, so an operator is asked each time. */
export function undoDeletes(run: number): Check {
  return {
    name: 'undo-deletes',
    *judge(facts) {
      const { users, groups } = yield* deletesIn(facts)
      if (users.count + groups.count === 0) return []
      const params = { run, users: users.count, groups: groups.count }
      const keys = union([users.keys, groups.keys])
      return [{ code: 'undo-deletes', params, stops: 'plan', until: 'decision', keys }]
    },
  }
}
