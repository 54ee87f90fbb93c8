import { listAt } from '../../base/lists.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { RunFacts } from './run-facts.ts'
import { TOLD } from '../entries/groups.ts'
import type { SourceSnapshot } from '../entries/snapshot.ts'
import { type Contributor, type Contributors, contributorsOf, keysWithin } from './group-contributors.ts'

/** Something that had members in the last complete run and shows none now, although nobody may have left. */
export interface SilentList {
  /** Equal for all groups that have its members. */
  readonly id: string
  readonly how: 'not-read' | 'not-shown-by-any-group' | 'not-shown' | 'nested-absent'
  /** The key and the DN of the group with the list. */
  readonly key: string
  readonly dn: string
  readonly attribute: string | null
  /** How many users it listed. */
  readonly had: number
}

/** Finds what the members of a group came from before, and do not any more. */
export class SilentLists {
  readonly #then: Contributors
  readonly #now: Contributors
  readonly #present: ReadonlySet<string>
  /** The groups that list a member that nobody can resolve: perhaps an absent group under a new DN. */
  readonly #unresolved: ReadonlySet<string>
  readonly #parents = new Map<string, string[]>()
  readonly #asked: ReadonlySet<string>
  readonly #shown = new Set<string>()

  private constructor(then: Contributors, now: Contributors, read: Read) {
    this.#then = then
    this.#now = now
    this.#present = read.present
    this.#unresolved = read.unresolved
    this.#asked = read.asked
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
  *within(group: string): Generator<SilentList, void> {
    for (const key of keysWithin(this.#then, group)) {
      const before = this.#then.get(key)
      if (before === undefined) continue
      const had = [...before.lists.values()].reduce((sum, users) => sum + users, 0)
      if (this.#present.has(key)) yield* this.#listsOf(key)
      else if (key !== group && this.isDoubtful(key))
        yield { id: `absent ${key}`, how: 'nested-absent', key, dn: before.dn, attribute: null, had }
    }
  }

  /** Whether an absent group may still be there: a group around it lists a member that nobody can resolve. */
  isDoubtful(key: string): boolean {
    const around = new Set(this.#parents.get(key))
    for (const each of around) {
      if (this.#unresolved.has(each)) return true
      for (const parent of this.#parents.get(each) ?? []) around.add(parent)
    }
    return false
  }

  *#listsOf(key: string): Generator<SilentList, void> {
    const { dn, lists } = this.#then.get(key)!
    for (const [attribute, had] of lists) {
      if (had === 0 || this.#now.get(key)?.lists.has(attribute) === true) continue
      if (!this.#asked.has(attribute)) yield { id: attribute, how: 'not-read', key, dn, attribute, had }
      else if (!this.#shown.has(attribute))
        yield { id: attribute, how: 'not-shown-by-any-group', key, dn, attribute, had }
      else yield { id: `${key} ${attribute}`, how: 'not-shown', key, dn, attribute, had }
    }
  }
}

interface Read {
  readonly present: ReadonlySet<string>
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
  // What others tell is no attribute that a configuration names.
  const asked = [...(lists?.asked ?? []), ...Object.values(TOLD)].map((name) => name.toLowerCase())
  return { present, unresolved, asked: new Set(asked) }
}

/** What is silent now is kept as it was while members of it may still have to leave, and so is an absent group. */
export function* nextContributors(
  { states, wanted, left }: RunFacts,
  deleted: ReadonlySet<string>,
): Steps<Contributors> {
  const { source } = wanted.snapshots
  const next = new Map(yield* contributorsOf(source))
  const before = states.groups
  if (before === undefined) return next
  const silent = yield* SilentLists.of(before, source)
  const keep = (key: string): void => {
    const [was, is] = [before.get(key), next.get(key)]
    if (was !== undefined) next.set(key, is === undefined ? was : merged(was, is))
  }
  yield* forEachInSteps(wanted.absent.group, (group) => !deleted.has(group) && keep(group))
  for (const [group, { removed }] of wanted.members) {
    yield
    const open = removed.some(
      (id) => !wanted.absent.user.has(id) && !left.has(['group', group, '-member', id]),
    )
    if (open) for (const { key } of silent.within(group)) keep(key)
  }
  return next
}

function merged(was: Contributor, is: Contributor): Contributor {
  return {
    ...is,
    lists: new Map([...was.lists, ...is.lists]),
    nested: [...new Set([...was.nested, ...is.nested])],
  }
}
