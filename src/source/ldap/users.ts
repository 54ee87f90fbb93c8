import { PART, type Steps } from '../../base/steps.ts'
import type { Collector } from '../collect.ts'
import { Containers } from './containers.ts'
import type { ImageUsers, UserRecord } from './image.ts'

/** A user's data for groups besides what every source has. */
type Naming = Pick<UserRecord, 'uids' | 'memberOf' | 'primaryGroup'>

const NO_VALUES: readonly string[] = []
const NO_NAMES: Naming = { uids: NO_VALUES, memberOf: NO_VALUES, primaryGroup: undefined }
const FIRST = 1024
/** Instead of a row of the collector's table. */
const ODD = -1

/**
 * The users of a read, numbered from 0 in its order. Nearly all are rows of the collector's table and nothing else: odd
 * are users without a usable id, with an id that another entry has too, and disabled accounts.
 */
export class ReadUsers implements ImageUsers {
  readonly collector: Collector
  readonly #idName: string
  #rows = new Int32Array(FIRST)
  #size = 0
  readonly #odd = new Map<number, UserRecord>()
  readonly #names = new Map<number, Naming>()
  /** Each member's id once, however many groups there are. */
  readonly #memberIds = new Map<number, string>()

  /** @param idName the attribute that holds the id, for notices */
  constructor(collector: Collector, idName: string) {
    this.collector = collector
    this.#idName = idName
  }

  get size(): number {
    return this.#size
  }

  /** Adds the next user, also to the collector. Returns its number. */
  add(user: UserRecord): number {
    const number = this.#size
    if (number === this.#rows.length) {
      const rows = new Int32Array(2 * number)
      rows.set(this.#rows)
      this.#rows = rows
    }
    const row = this.#collect(user)
    this.#rows[number] = row ?? ODD
    if (row === undefined) this.#odd.set(number, user)
    else if (hasNames(user)) {
      const { uids, memberOf, primaryGroup } = user
      this.#names.set(number, { uids, memberOf, primaryGroup })
    }
    this.#size += 1
    return number
  }

  at(number: number): UserRecord {
    const row = this.#rows[number]!
    if (row === ODD) return this.#odd.get(number)!
    const { table } = this.collector
    const id = table.idOf(row)
    return {
      ids: [id],
      id,
      dn: table.fromOf(row),
      email: table.emailOf(row),
      name: table.nameOf(row),
      employeeId: table.employeeIdOf(row),
      disabled: undefined,
      faults: NO_VALUES,
      ...(this.#names.get(number) ?? NO_NAMES),
    }
  }

  idOf(number: number): string | undefined {
    const row = this.#rows[number]!
    if (row === ODD) return this.#odd.get(number)!.id
    let id = this.#memberIds.get(number)
    if (id === undefined) this.#memberIds.set(number, (id = this.collector.table.idOf(row)))
    return id
  }

  dnOf(number: number): string {
    const row = this.#rows[number]!
    return row === ODD ? this.#odd.get(number)!.dn : this.collector.table.fromOf(row)
  }

  /** Visits all values of the id attribute of every user, with the normal parent DN. */
  *eachPlace(visit: (id: string, container: string) => void): Steps<undefined> {
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
    return undefined
  }

  *naming(): Generator<UserRecord, undefined> {
    for (const number of this.#names.keys()) yield this.at(number)
    for (const user of this.#odd.values()) if (hasNames(user)) yield user
    return undefined
  }

  *[Symbol.iterator](): Generator<UserRecord, undefined> {
    for (let number = 0; number < this.#size; number += 1) yield this.at(number)
    return undefined
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

function hasNames({ uids, memberOf, primaryGroup }: Naming): boolean {
  return uids.length > 0 || memberOf.length > 0 || primaryGroup !== undefined
}
