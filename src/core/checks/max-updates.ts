import type { Check } from './check.ts'
import type { Block } from '../block.ts'
import { GUARDED, MIN_MASS_UPDATES, directorySizes, exceeds, updatesIn } from './tally.ts'

/** More entries with other values, or more new members, than a plan may write without approval. */
export const maxUpdates: Check = {
  name: 'max-updates',
  *judge(facts) {
    const blocks: Block[] = []
    for (const kind of GUARDED) {
      const { maxUpdates: most, maxUpdatePercent: percent } = facts.limits[kind]
      if (most === null && percent === null) continue
      const { count: updates, keys } = yield* updatesIn(facts, kind)
      const of = (yield* directorySizes(facts))[kind]
      const stop = { stops: 'plan', until: 'decision', keys } as const
      if (most !== null && updates > most)
        blocks.push({ code: `max-updates-${kind}`, params: { kind, updates, limit: most }, ...stop })
      if (percent !== null && updates >= MIN_MASS_UPDATES && exceeds(updates, of, percent))
        blocks.push({
          code: `max-update-percent-${kind}`,
          params: { kind, updates, of, limit: percent },
          ...stop,
        })
    }
    return blocks
  },
}
