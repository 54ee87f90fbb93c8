import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { Kind } from '../entries/entry.ts'
import { forEachKey, union, wholeOf } from '../keys.ts'
import type { Check, RunFacts } from './check.ts'
import type { Block } from '../block.ts'
import { deletesIn } from './tally.ts'

/** The source lost many entries since the last complete run, so every delete of this plan needs approval. */
export const sourceShrunk: Check = {
  name: 'source-shrunk',
  *judge(facts) {
    const { states, limits, wanted } = facts
    const deletes = yield* deletesIn(facts)
    const keys = union([deletes.users.keys, deletes.groups.keys, deletes.memberships.keys])
    if (
      states.size === undefined ||
      deletes.users.count + deletes.groups.count + deletes.memberships.count === 0
    )
      return []
    const found: Block[] = []
    for (const kind of ['users', 'groups'] as const) {
      const before = states.size[kind]
      const entry = kind === 'users' ? 'user' : 'group'
      const now = wanted.snapshots.source.seen[entry].size + (yield* countKept(facts, entry))
      if (before === 0 || (before - now) * 100 <= before * limits.maxSourceShrinkPercent) continue
      const params = { kind, now, before, limit: limits.maxSourceShrinkPercent }
      found.push({ code: `source-shrunk-${kind}`, params, stops: 'plan', until: 'decision', keys })
    }
    return found
  },
}

/**
 * The number of absent entries that do not count as lost: an anomaly blocks them, their delete is approved, or their
 * grace period began in an earlier run and is not over.
 */
function* countKept({ blocks, decisions, states, wanted }: RunFacts, kind: Kind): Steps<number> {
  const ids = new Set<string>()
  for (const { keys, until, code } of blocks) {
    const isDoubt =
      until === 'read' || code === 'absence-unconfirmed' || (until === 'decision' && code !== 'rejected')
    if (isDoubt || code === 'grace')
      yield* forEachKey(keys, ([of, id, field]) => {
        const isKept = isDoubt || states.grace?.[kind].has(id) === true
        if (of === kind && isKept && (field === 'leave' || field === 'delete')) ids.add(id)
      })
  }
  if (decisions.ledger.approvals.size > 0)
    yield* forEachInSteps(wanted.absent[kind], (id) => {
      if (decisions.isApproved(wholeOf([kind, id, 'delete']))) ids.add(id)
    })
  return ids.size
}
