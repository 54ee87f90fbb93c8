import type { Block, Check } from './check.ts'
import { directorySizes } from './directory-sizes.ts'
import { exceeds, MIN_MASS_UPDATES } from './limits.ts'
import type { RunFacts } from './run-facts.ts'
import { GUARDED, tallyOf } from './tally.ts'

/** More entries with other values, or more new members, than a plan may write without approval. */
export const maxUpdates: Check<RunFacts> = {
  name: 'max-updates',
  *judge(facts) {
    const tally = yield* tallyOf(facts)
    const sizes = yield* directorySizes(facts)
    return GUARDED.flatMap((kind) => {
      const { count: updates, keys } = tally.updates[kind]
      const { maxUpdates: most, maxUpdatePercent: percent } = facts.limits[kind]
      const of = sizes[kind]
      const stop = { stops: 'plan', until: 'decision', keys } as const
      const blocks: Block[] = []
      if (most !== null && updates > most)
        blocks.push({ code: `max-updates-${kind}`, params: { kind, updates, limit: most }, ...stop })
      if (percent !== null && updates >= MIN_MASS_UPDATES && exceeds(updates, of, percent))
        blocks.push({
          code: `max-update-percent-${kind}`,
          params: { kind, updates, of, limit: percent },
          ...stop,
        })
      return blocks
    })
  },
}
