import { union } from '../keys.ts'
import { changeSince } from '../plan/configuration.ts'
import type { Check } from './check.ts'
import type { Block } from '../block.ts'
import { GUARDED, MIN_MASS_UPDATES, deletesIn, directorySizes, exceeds, laterIn, updatesIn } from './tally.ts'

/** The share of a kind that may be removed or updated after a change of the configuration, in percent. */
const MOST_PERCENT = 20

/** A changed filter or mapping often does to many entries what its author did not intend. */
export const configurationChanged: Check = {
  name: 'configuration-changed',
  *next({ run, options }, moment) {
    return moment.at === 'end' && moment.end === 'applied' ? { configuration: { run, options } } : {}
  },
  *judge(facts) {
    const change = changeSince(facts.states.configuration, facts.options)
    if (change === undefined) return []
    const all = yield* deletesIn(facts)
    const sizes = yield* directorySizes(facts)
    const blocks: Block[] = []
    for (const kind of GUARDED) {
      const [removing, later, updating] = [
        all[kind],
        yield* laterIn(facts, kind),
        yield* updatesIn(facts, kind),
      ]
      const [deletes, updates, of] = [removing.count + later.size, updating.count, sizes[kind]]
      const isMass = deletes + updates >= MIN_MASS_UPDATES && exceeds(deletes + updates, of, MOST_PERCENT)
      if (!isMass && !exceeds(deletes, of, MOST_PERCENT)) continue
      const params = {
        ...change,
        kind,
        deletes,
        updates,
        leftFilter: all.leftFilter[kind],
        newIds: all.newIds[kind],
        of,
        limit: MOST_PERCENT,
        isLater: later.size > 0,
      }
      const keys = union([removing.keys, later, updating.keys])
      blocks.push({ code: 'configuration-changed', params, stops: 'plan', until: 'decision', keys })
    }
    return blocks
  },
}
