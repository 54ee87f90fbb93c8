import type { ImageUsers, UserRecord } from '../image.ts'

/** Users of the first read keep their numbers; reread users follow, and only the recheck counts for these. */
export class UsersNow implements ImageUsers {
  readonly #before: ImageUsers
  readonly #again: readonly UserRecord[]
  readonly #moved: readonly UserRecord[]
  readonly #ids: ReadonlySet<string | undefined>
  readonly #byDn: ReadonlyMap<string, number>

  constructor(before: ImageUsers, again: readonly UserRecord[], renamed: readonly UserRecord[]) {
    this.#before = before
    this.#again = again
    this.#moved = [...again, ...renamed]
    this.#ids = new Set(again.map(({ id }) => id))
    this.#byDn = new Map([...this.moved()].map(([number, { dn }]) => [dn, number]))
  }

  get size(): number {
    return this.#before.size + this.#moved.length
  }

  /** Users who were read after the first read, with their numbers. */
  *moved(): Generator<[number: number, user: UserRecord], undefined> {
    for (const [index, user] of this.#moved.entries()) yield [this.#before.size + index, user]
    return undefined
  }

  /** The user at a DN, spelled as the server does, of those who were read after the first read. */
  movedTo(dn: string): number | undefined {
    return this.#byDn.get(dn)
  }

  at(number: number): UserRecord {
    return number < this.#before.size ? this.#before.at(number) : this.#moved[number - this.#before.size]!
  }

  idOf(number: number): string | undefined {
    return number < this.#before.size ? this.#before.idOf(number) : this.at(number).id
  }

  dnOf(number: number): string {
    return number < this.#before.size ? this.#before.dnOf(number) : this.at(number).dn
  }

  *naming(): Generator<UserRecord, undefined> {
    for (const user of this.#before.naming()) if (this.#isAsBefore(user)) yield user
    for (const user of this.#again) yield user
    return undefined
  }

  *[Symbol.iterator](): Generator<UserRecord, undefined> {
    for (const user of this.#before) if (this.#isAsBefore(user)) yield user
    for (const user of this.#again) yield user
    return undefined
  }

  #isAsBefore({ id }: UserRecord): boolean {
    return id === undefined || !this.#ids.has(id)
  }
}
