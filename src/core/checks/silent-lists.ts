import type { SilentHow } from '../block.ts'
import { listAt } from '../../base/lists.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import { TOLD } from '../entries/groups.ts'
import type { SourceSnapshot } from '../entries/snapshot.ts'
import { type Contributors, contributorsOf, keysWithin } from './group-contributors.ts'

/** Something that had members in the last complete run and shows none now, although nobody may have left. */
export interface SilentList {
  /** Equal for all groups that have its members. */
  readonly id: string
  readonly how: Exclude<SilentHow, 'no-members'>
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
  /** The groups that list an unresolved member: perhaps an absent group under a new DN. */
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
        yield { id: `absent ${key}`, how: 'group-absent', key, dn: before.dn, attribute: null, had }
    }
  }

  /** Whether an absent group may still be there: one around it lists an unresolved member, or its own list was in doubt. */
  isDoubtful(key: string): boolean {
    if ((this.#then.get(key)?.doubted?.size ?? 0) > 0) return true
    const around = new Set(this.#parents.get(key))
    for (const each of around) {
      if (this.#unresolved.has(each)) return true
      for (const parent of this.#parents.get(each) ?? []) around.add(parent)
    }
    return false
  }

  *#listsOf(key: string): Generator<SilentList, void> {
    const { dn, lists, doubted } = this.#then.get(key)!
    for (const [attribute, had] of lists) {
      const isShown = this.#now.get(key)?.lists.has(attribute) === true
      if (had === 0 || (isShown && doubted?.has(attribute) !== true)) continue
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
  // Members that users or a chain name come from no attribute of the configuration.
  const asked = [...(lists?.asked ?? []), ...Object.values(TOLD)].map((name) => name.toLowerCase())
  return { present, unresolved, asked: new Set(asked) }
}
