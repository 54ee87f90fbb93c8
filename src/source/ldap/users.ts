import type { MemberNames } from '../../core/entries/groups.ts'
import type { Places } from '../../core/entries/snapshot.ts'
import { forEachInSteps, PART, type Steps } from '../../base/steps.ts'
import type { Collector } from '../collect.ts'
import { Containers } from './containers.ts'
import { normalizeDn } from './dn.ts'
import type { UserRecord } from './image.ts'
import { DnIndex, type MemberIndex } from './membership/dn-index.ts'
import { createMemberIndex } from './membership/members.ts'

type OddUser = Pick<UserRecord, 'ids' | 'id' | 'dn'>

const FIRST = 1024
/** Instead of a row of the collector's table. */
const ODD = -1

/**
 * The users of a read, numbered from 0 in its order. Nearly all are rows of the collector's table and nothing else: odd
 * are users without a usable id, with an id that another entry has too, and disabled accounts.
 */
export class ReadUsers implements MemberNames, Places {
  readonly collector: Collector
  readonly #idName: string
  readonly #listed: readonly string[]
  #index: MemberIndex | undefined
  #rows = new Int32Array(FIRST)
  #size = 0
  readonly #odd = new Map<number, OddUser>()
  /** The users that name a group, by its normal DN, and those that name it as their primary group. */
  readonly #naming = new Map<string, number[]>()
  readonly #primary = new Map<string, number[]>()
  /** Each member's id once, however many groups there are. */
  readonly #memberIds = new Map<number, string>()

  /**
   * @param idName the attribute that holds the id, for notices
   * @param listed the attributes of groups that list their members
   */
  constructor(collector: Collector, idName: string, listed: readonly string[]) {
    this.collector = collector
    this.#idName = idName
    this.#listed = listed
    this.#index = createMemberIndex(listed, this)
  }

  /** Adds the next user, also to the collector. */
  add(user: UserRecord): void {
    const number = this.#size
    if (number === this.#rows.length) {
      const rows = new Int32Array(2 * number)
      rows.set(this.#rows)
      this.#rows = rows
    }
    const row = this.#collect(user)
    const { ids, id, dn, memberOf, primaryGroup } = user
    this.#rows[number] = row ?? ODD
    if (row === undefined) this.#odd.set(number, { ids, id, dn })
    this.#size += 1
    this.#index?.addUser(number, user)
    if (id === undefined) return
    for (const group of memberOf) addTo(this.#naming, group, number)
    if (primaryGroup !== undefined) addTo(this.#primary, primaryGroup, number)
  }

  idAt(number: number): string | undefined {
    const row = this.#rows[number]!
    if (row === ODD) return this.#odd.get(number)!.id
    let id = this.#memberIds.get(number)
    if (id === undefined) this.#memberIds.set(number, (id = this.collector.table.idOf(row)))
    return id
  }

  dnAt(number: number): string {
    const row = this.#rows[number]!
    return row === ODD ? this.#odd.get(number)!.dn : this.collector.table.fromOf(row)
  }

  /** Frees what a million users need 17 MB for, and can be made again. Names besides DNs are nowhere else. */
  endRead(): void {
    if (this.#index instanceof DnIndex) this.#index = undefined
    this.#memberIds.clear()
  }

  *prepare(): Steps<void> {
    if (this.#index !== undefined || this.#listed.length === 0) return undefined
    const index = new DnIndex(this)
    for (let number = 0; number < this.#size; number += 1) {
      if (number % PART === 0) yield
      const odd = this.#odd.get(number)
      if (odd === undefined || odd.id !== undefined) index.add(number, this.dnAt(number))
    }
    this.#index = index
  }

  idOf(name: string): string | null | undefined {
    const found = this.#index?.get(name)
    if (found === undefined) return undefined
    return found === 'several' ? null : this.idAt(found)
  }

  dnOf(name: string): string | undefined {
    return normalizeDn(name)
  }

  isNamed(group: string): boolean {
    return this.#naming.has(group)
  }

  idsNaming(group: string): Steps<string[]> {
    return this.#idsOf(this.#naming.get(group))
  }

  idsOfPrimary(name: string): Steps<string[]> {
    return this.#idsOf(this.#primary.get(name))
  }

  /** What users call their primary groups, each once. */
  primaryNames(): readonly string[] {
    return [...this.#primary.keys()]
  }

  *each(visit: (id: string, container: string) => void): Steps<void> {
    const containers = new Containers()
    const { table } = this.collector
    for (let number = 0; number < this.#size; number += 1) {
      if (number % PART === 0) yield
      const row = this.#rows[number]!
      if (row !== ODD) visit(table.idOf(row), containers.ofOrigin(table.originOf(row)))
      else {
        const { ids, dn } = this.#odd.get(number)!
        for (const id of ids) visit(id, containers.of(dn))
      }
    }
  }

  *#idsOf(numbers: readonly number[] = []): Steps<string[]> {
    const ids: string[] = []
    yield* forEachInSteps(numbers, (number) => {
      const id = this.idAt(number)
      if (id !== undefined) ids.push(id)
    })
    return ids
  }

  #collect(user: UserRecord): number | undefined {
    const { ids, dn: from, disabled, email, name, employeeId, faults } = user
    const candidate = { ids, idName: this.#idName, from }
    if (disabled === undefined)
      return this.collector.addUser({ ...candidate, email, name, employeeId, faults })?.row
    this.collector.addDisabled({ ...candidate, gone: disabled === 'delete' })
    return undefined
  }
}

function addTo(numbers: Map<string, number[]>, name: string, number: number): void {
  const others = numbers.get(name)
  if (others === undefined) numbers.set(name, [number])
  else others.push(number)
}

export class GroupPlaces implements Places {
  readonly #groups: readonly { readonly ids: readonly string[]; readonly container: string }[]

  constructor(groups: readonly Pick<UserRecord, 'ids' | 'dn'>[]) {
    const containers = new Containers()
    this.#groups = groups.map(({ ids, dn }) => ({ ids, container: containers.of(dn) }))
  }

  each(visit: (id: string, container: string) => void): Steps<void> {
    return forEachInSteps(this.#groups, ({ ids, container }) => {
      for (const id of ids) visit(id, container)
    })
  }
}
