import { forEachOfSizeInSteps } from '../../base/steps.ts'
import { deleteOf, type Key, KeySet } from '../keys.ts'
import { examplesOf } from '../notice.ts'
import type { Block, Check } from './check.ts'
import type { RunFacts } from './run-facts.ts'
import { nextContributors, type SilentList, SilentLists } from './silent-lists.ts'

/** Fewer members may well leave at once. */
const FEW = 5

type Suspect = Omit<SilentList, 'how'> & { readonly how: SilentList['how'] | 'no-members' }

/**
 * Members that a group would lose although they are in the source, where what they came from shows no member any more:
 * the whole group, one of its attributes, or a group within it. A read right that was lost looks the same.
 */
export const groupEmptied: Check<RunFacts> = {
  name: 'group-emptied',
  *next(facts, moment) {
    const isCompared =
      facts.wanted.rules.membership === 'write' && facts.wanted.snapshots.source.covers.members
    if (moment.at === 'begun' || moment.end !== 'applied' || !isCompared) return {}
    return { groups: yield* nextContributors(facts, moment.deleted.group) }
  },
  concerns: ['-member', 'delete'],
  *judge(facts) {
    const silent = yield* SilentLists.of(facts.states.groups ?? new Map(), facts.wanted.snapshots.source)
    const suspects = new Map<string, { readonly suspect: Suspect; readonly keys: Key[]; isLarge: boolean }>()
    const add = (suspect: Suspect, keys: readonly Key[], isLarge: boolean): void => {
      const known = suspects.get(suspect.id) ?? { suspect, keys: [], isLarge: false }
      for (const key of keys) known.keys.push(key)
      known.isLarge ||= isLarge || known.keys.length >= FEW
      suspects.set(suspect.id, known)
    }
    const { members, absent, snapshots } = facts.wanted
    yield* forEachOfSizeInSteps(
      members,
      ([, { removed }]) => removed.length,
      function* ([group]) {
        const keys = [...facts.left.membersOf(group, '-member')].filter(([, , , id]) => !absent.user.has(id!))
        if (keys.length === 0) return
        for (const suspect of suspectsOf(facts, silent, group))
          add(suspect, keys, suspect.had >= FEW || isOfAttribute(suspect))
        yield
      },
    )
    for (const group of absent.group) {
      const key = deleteOf('group', group)
      const have = snapshots.directory.groups.get(group)
      if (have === undefined || !facts.left.has(key) || !silent.isDoubtful(group)) continue
      const [had, dn] = [have.members.length, facts.states.groups?.get(group)?.dn ?? group]
      const id = `absent ${group}`
      if (had >= FEW) add({ id, how: 'nested-absent', key: group, dn, attribute: null, had }, [key], true)
    }
    return blocksOf(
      facts,
      [...suspects.values()].filter(({ isLarge }) => isLarge),
    )
  },
}

/** Shown by no group at all, or not read any more: one removal is enough. */
function isOfAttribute({ how }: Suspect): boolean {
  return how === 'not-read' || how === 'not-shown-by-any-group'
}

function* suspectsOf(
  { wanted, rechecks }: RunFacts,
  silent: SilentLists,
  group: string,
): Generator<Suspect, void> {
  const isProved = rechecks.removals.get(group)?.provedEmpty === true
  const entry = wanted.snapshots.source.groups.get(group)
  const had = wanted.snapshots.directory.groups.get(group)?.members.length ?? 0
  if (!isProved && had >= FEW && entry?.members.length === 0)
    yield { id: `group ${group}`, how: 'no-members', key: group, dn: entry.from, attribute: null, had }
  for (const suspect of silent.within(group)) if (!isProved || suspect.how !== 'not-shown') yield suspect
}

function blocksOf(
  { wanted }: RunFacts,
  suspects: readonly { readonly suspect: Suspect; readonly keys: readonly Key[] }[],
): readonly Block[] {
  return [...Map.groupBy(suspects, ({ suspect }) => suspect.how)].map(([how, some]) => {
    const keys = new KeySet()
    const bySuspect = new Map<string, Suspect>()
    for (const { suspect, keys: named } of some)
      for (const key of named) {
        keys.add(key)
        bySuspect.set(key[1], suspect)
      }
    const groups = examplesOf(
      [...bySuspect.keys()].map((id) => wanted.snapshots.directory.groups.get(id)?.name ?? id),
    )
    const lists = examplesOf([...new Set(some.map(({ suspect }) => suspect.dn))])
    const attributes = [...new Set(some.flatMap(({ suspect }) => suspect.attribute ?? []))].toSorted()
    const removals = [...keys].filter(([, , field]) => field === '-member').length
    const params = { how, groups, lists, attributes, removals }
    return { code: 'group-emptied', params, until: 'decision', keys, of: ([, id]) => bySuspect.get(id) }
  })
}
