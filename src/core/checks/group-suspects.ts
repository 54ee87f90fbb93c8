import type { SilentHow } from '../block.ts'
import { type Steps, forEachInSteps, forEachOfSizeInSteps } from '../../base/steps.ts'
import type { MemberDifference } from '../entries/entry.ts'
import { type Key, forEachKey } from '../keys.ts'
import type { Contributors, RunFacts } from './check.ts'
import { listAt } from '../../base/lists.ts'
import { TOLD } from '../entries/groups.ts'
import type { SourceSnapshot } from '../entries/snapshot.ts'
import { contributorsOf, keysWithin } from './group-contributors.ts'

/** Something that had members in the last complete run and shows none now, although nobody may have left. */
interface Suspect {
  /** Equal for all groups that have its members. */
  readonly id: string
  readonly how: SilentHow
  /** The key and the DN of the group with the list. */
  readonly key: string
  readonly dn: string
  readonly attribute: string | null
  readonly had: number
}

/** Finds what the members of a group came from before, and do not any more. */
class SilentLists {
  readonly #then: Contributors
  readonly #now: Contributors
  readonly #read: Read
  readonly #parents = new Map<string, string[]>()
  readonly #shown = new Set<string>()

  private constructor(then: Contributors, now: Contributors, read: Read) {
    this.#then = then
    this.#now = now
    this.#read = read
  }

  static *of(then: Contributors, source: SourceSnapshot): Steps<SilentLists> {
    const silent = new SilentLists(then, yield* contributorsOf(source), yield* readOf(source))
    yield* forEachInSteps(then, ([key, { nested }]) => {
      for (const each of nested) listAt(silent.#parents, each).push(key)
    })
    yield* forEachInSteps(silent.#now.values(), ({ lists }) => {
      for (const attribute of lists.keys()) silent.#shown.add(attribute)
    })
    return silent
  }

  /** Of a group, by its key. */
  *within(group: string): Generator<Suspect, void> {
    for (const key of keysWithin(this.#then, group)) {
      const before = this.#then.get(key)
      if (before === undefined) continue
      const had = [...before.lists.values()].reduce((sum, users) => sum + users, 0)
      if (this.#read.present.has(key)) yield* this.#listsOf(key)
      else if (key !== group && this.isDoubtful(key))
        yield { id: `absent ${key}`, how: 'group-absent', key, dn: before.dn, attribute: null, had }
    }
  }

  /** Whether an absent group may still be there: one around it lists an unresolved member, or its own list was in doubt. */
  isDoubtful(key: string): boolean {
    if ((this.#then.get(key)?.doubted?.size ?? 0) > 0) return true
    const around = new Set(this.#parents.get(key))
    for (const each of around) {
      if (this.#read.unresolved.has(each)) return true
      for (const parent of this.#parents.get(each) ?? []) around.add(parent)
    }
    return false
  }

  *#listsOf(key: string): Generator<Suspect, void> {
    const { dn, lists, doubted } = this.#then.get(key)!
    for (const [attribute, had] of lists) {
      const isShown = this.#now.get(key)?.lists.has(attribute) === true
      if (had === 0 || (isShown && doubted?.has(attribute) !== true)) continue
      if (!this.#read.asked.has(attribute)) yield { id: attribute, how: 'not-read', key, dn, attribute, had }
      else if (!this.#shown.has(attribute))
        yield { id: attribute, how: 'not-shown-by-any-group', key, dn, attribute, had }
      else yield { id: `${key} ${attribute}`, how: 'not-shown', key, dn, attribute, had }
    }
  }
}

interface Read {
  readonly present: ReadonlySet<string>
  /** The groups that list an unresolved member: perhaps an absent group under a new DN. */
  readonly unresolved: ReadonlySet<string>
  readonly asked: ReadonlySet<string>
}

function* readOf({ lists }: SourceSnapshot): Steps<Read> {
  const present = new Set<string>()
  const unresolved = new Set<string>()
  yield* forEachInSteps(lists?.groups.values() ?? [], (group) => {
    present.add(group.key)
    if (group.lists.some((list) => list.unresolved.length > 0)) unresolved.add(group.key)
  })
  // Members that users or a chain name come from no attribute of the configuration.
  const asked = [...(lists?.asked ?? []), ...Object.values(TOLD)].map((name) => name.toLowerCase())
  return { present, unresolved, asked: new Set(asked) }
}

/** Fewer members may well leave at once. */
const FEW = 5

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
    const key: Key = ['group', group, 'delete']
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
