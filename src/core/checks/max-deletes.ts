import { GUARDED, deletesIn, directorySizes, exceeds } from './tally.ts'
import type { Check } from './check.ts'
import type { Block } from '../block.ts'

/** More deletes, or a larger share of the directory, than a plan may delete without approval. */
export const maxDeletes: Check = {
  name: 'max-deletes',
  *judge(facts) {
    const all = yield* deletesIn(facts)
    const sizes = yield* directorySizes(facts)
    return GUARDED.flatMap((kind) => {
      const { count: deletes, keys } = all[kind]
      const { maxDeletes: most, maxDeletePercent: percent } = facts.limits[kind]
      const of = sizes[kind]
      const params = { kind, deletes, leftFilter: all.leftFilter[kind], newIds: all.newIds[kind], of }
      const stop = { stops: 'plan', until: 'decision', keys } as const
      const blocks: Block[] = []
      if (deletes > most)
        blocks.push({ code: `max-deletes-${kind}`, params: { ...params, limit: most }, ...stop })
      if (exceeds(deletes, of, percent))
        blocks.push({ code: `max-delete-percent-${kind}`, params: { ...params, limit: percent }, ...stop })
      return blocks
    })
  },
}
