import type { SilentHow } from '../block.ts'
import { forEachOfSizeInSteps, type Steps } from '../../base/steps.ts'
import type { MemberDifference } from '../diff/members.ts'
import { deleteOf, forEachKey, type Key } from '../keys.ts'
import type { RunFacts } from './run-facts.ts'
import { type SilentList, SilentLists } from './silent-lists.ts'

/** Fewer members may well leave at once. */
const FEW = 5

/** What the members of groups came from, and shows none now. */
export type Suspect = Omit<SilentList, 'how'> & { readonly how: SilentHow }

export interface FoundSuspect {
  readonly suspect: Suspect
  /** The removals and the delete that it puts in doubt. */
  readonly keys: readonly Key[]
}

export function* suspectsIn(facts: RunFacts): Steps<readonly FoundSuspect[]> {
  const { wanted, left, states } = facts
  const { members, absent, snapshots } = wanted
  const silent = yield* SilentLists.of(states.groups ?? new Map(), snapshots.source)
  const found = new Found()
  yield* forEachOfSizeInSteps(members, removalsIn, function* ([group]) {
    const keys: Key[] = []
    yield* forEachKey(left.membersOf(group, '-member'), (key) => !absent.user.has(key[3]!) && keys.push(key))
    if (keys.length === 0) return
    for (const suspect of suspectsOf(facts, silent, group)) found.add(suspect, keys)
    yield
  })
  for (const group of absent.group) {
    const key = deleteOf('group', group)
    const had = snapshots.directory.groups.get(group)?.members.length ?? 0
    if (had < FEW || !left.has(key) || !silent.isDoubtful(group)) continue
    const dn = states.groups?.get(group)?.dn ?? group
    found.add({ id: `absent ${group}`, how: 'group-absent', key: group, dn, attribute: null, had }, [key])
  }
  return found.large()
}

function removalsIn([, { removed }]: readonly [string, MemberDifference]): number {
  return removed.length
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

/** The suspects, each with the keys of all groups that have its members. */
class Found {
  readonly #all = new Map<string, { readonly suspect: Suspect; readonly keys: Key[]; isLarge: boolean }>()

  add(suspect: Suspect, keys: readonly Key[]): void {
    const known = this.#all.get(suspect.id) ?? { suspect, keys: [], isLarge: false }
    for (const key of keys) known.keys.push(key)
    known.isLarge ||= suspect.had >= FEW || isOfAttribute(suspect) || known.keys.length >= FEW
    this.#all.set(suspect.id, known)
  }

  large(): readonly FoundSuspect[] {
    return [...this.#all.values()].filter(({ isLarge }) => isLarge)
  }
}

/** Shown by no group at all, or not read any more: one removal is enough. */
function isOfAttribute({ how }: Suspect): boolean {
  return how === 'not-read' || how === 'not-shown-by-any-group'
}
