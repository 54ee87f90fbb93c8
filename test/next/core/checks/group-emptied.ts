import type { Steps } from '../../../../src/base/steps.ts'
import { KeySet } from '../keys.ts'
import { examplesOf } from '../../../../src/core/notice.ts'
import type { Block, Check } from './check.ts'
import { nextContributors } from './next-contributors.ts'
import type { RunFacts } from './run-facts.ts'
import { type FoundSuspect, type Suspect, suspectsIn } from './group-suspects.ts'

/**
 * Members that a group would lose although they are in the source, where what they came from shows no member any more:
 * the whole group, one of its attributes, or a group within it. A read right that was lost looks the same.
 */
export const groupEmptied: Check<RunFacts> = {
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
    return [...byHow].map(([how, some]) => blockOf(facts, how, some))
  },
}

function blockOf({ wanted }: RunFacts, how: Suspect['how'], some: readonly FoundSuspect[]): Block {
  const keys = new KeySet()
  const byGroup = new Map<string, Suspect>()
  for (const { suspect, keys: named } of some)
    for (const key of named) {
      keys.add(key)
      byGroup.set(key[1], suspect)
    }
  const { groups } = wanted.snapshots.directory
  const params = {
    how,
    groups: examplesOf([...byGroup.keys()].map((id) => groups.get(id)?.name ?? id)),
    lists: examplesOf([...new Set(some.map(({ suspect }) => suspect.dn))]),
    attributes: [...new Set(some.flatMap(({ suspect }) => suspect.attribute ?? []))].toSorted(),
    removals: [...keys].filter(([, , field]) => field === '-member').length,
  }
  return { code: 'group-emptied', params, until: 'decision', keys, of: ([, id]) => byGroup.get(id) }
}
