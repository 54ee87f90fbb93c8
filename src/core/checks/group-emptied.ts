import { forEachInSteps, type Steps } from '../../base/steps.ts'
import { KeySet } from '../keys.ts'
import { examplesOf } from '../notice.ts'
import type { Check, RunFacts } from './check.ts'
import type { Block, SilentHow } from '../block.ts'
import { nextContributors } from './group-contributors.ts'
import { type FoundSuspect, suspectsIn } from './group-suspects.ts'

/**
 * Members that a group would lose although they are in the source, where what they came from shows no member any more:
 * the whole group, one of its attributes, or a group within it. A read right that was lost looks the same.
 */
export const groupEmptied: Check = {
  name: 'group-emptied',
  *next(facts, moment) {
    const { rules, snapshots } = facts.wanted
    const isCompared = rules.membership === 'write' && snapshots.source.covers.members
    if (moment.at === 'begun' || moment.end !== 'applied' || !isCompared) return {}
    return { groups: yield* nextContributors(facts, moment.deleted.group) }
  },
  concerns: ['-member', 'delete'],
  *judge(facts): Steps<readonly Block[]> {
    const byHow = Map.groupBy(yield* suspectsIn(facts), ({ suspect }) => suspect.how)
    const blocks: Block[] = []
    for (const [how, some] of byHow) blocks.push(yield* blockOf(facts, how, some))
    return blocks
  },
}

function* blockOf({ wanted }: RunFacts, how: SilentHow, some: readonly FoundSuspect[]): Steps<Block> {
  const keys = new KeySet()
  const byGroup = new Map<string, FoundSuspect['suspect']>()
  let removals = 0
  for (const { suspect, keys: named } of some)
    yield* forEachInSteps(named, (key) => {
      if (!keys.has(key) && key[2] === '-member') removals += 1
      keys.add(key)
      byGroup.set(key[1], suspect)
    })
  const { groups } = wanted.snapshots.directory
  const params = {
    how,
    groups: examplesOf([...byGroup.keys()].map((id) => groups.get(id)?.name ?? id)),
    lists: examplesOf([...new Set(some.map(({ suspect }) => suspect.dn))]),
    attributes: [...new Set(some.flatMap(({ suspect }) => suspect.attribute ?? []))].toSorted(),
    removals,
  }
  return { code: 'group-emptied', params, until: 'decision', keys, of: ([, id]) => byGroup.get(id) }
}
