import { textHash } from '../../../core/entries/text-arena.ts'
import { dnKey, normalizeDn } from '../dn.ts'
import type { UserRecord } from '../image.ts'

const FIRST_SLOTS = 2048

/** The number of the user with a name. */
export type Found = number | 'several' | undefined

/**
 * Finds the users that a group's members name: by DN, or for `memberUid` by the users' `uid`. A `memberUid` in another
 * case than the `uid` counts where only one user has it in any case, and one that is a DN counts as a DN: old
 * directories contain all of these.
 */
export interface MemberIndex {
  /** Only users with a usable id can be members. */
  addUser(number: number, user: Pick<UserRecord, 'id' | 'dn' | 'uids'>): void
  get(name: string): Found
}

export interface Numbered {
  idAt(number: number): string | undefined
  dnAt(number: number): string
}

/**
 * Users by their DNs, in any spelling. It keeps hashes and no texts: a match is compared with the user's own DN. A DN
 * of several users, who differ in what is insignificant here, matches none.
 */
export class DnIndex implements MemberIndex {
  readonly #users: Numbered
  /** Open addressing by the hash of the normal DN: a user's number and one, or 0. */
  #slots = new Int32Array(FIRST_SLOTS)
  #hashes = new Int32Array(FIRST_SLOTS)
  #count = 0
  /** Users whose DN others have too. */
  readonly #ambiguous = new Set<number>()

  constructor(users: Numbered) {
    this.#users = users
  }

  addUser(number: number, { id, dn }: Pick<UserRecord, 'id' | 'dn'>): void {
    if (id !== undefined) this.add(number, dn)
  }

  /** Only for users with a usable id. */
  add(number: number, dn: string): void {
    const normal = normalizeDn(dn)
    if (normal === undefined) return
    const hash = textHash(normal)
    const other = this.#find(hash, (others) => dnKey(others) === normal)
    if (other === undefined) this.#put(hash, number)
    else if (this.#users.idAt(other) !== this.#users.idAt(number)) this.#ambiguous.add(other)
  }

  get(text: string): Found {
    // Most are written in their normal form.
    const found =
      this.#find(textHash(text), (dn) => dn === text || dnKey(dn) === text) ?? this.#findNormal(text)
    return found !== undefined && this.#ambiguous.has(found) ? 'several' : found
  }

  #findNormal(text: string): number | undefined {
    const normal = normalizeDn(text)
    if (normal === undefined) return undefined
    return this.#find(textHash(normal), (dn) => dn === text || dnKey(dn) === normal)
  }

  #find(hash: number, isIt: (dn: string) => boolean): number | undefined {
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1
      if (this.#hashes[slot] === hash && isIt(this.#users.dnAt(number))) return number
    }
    return undefined
  }

  #put(hash: number, number: number): void {
    if (this.#count * 5 >= this.#slots.length * 3) this.#grow()
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = number + 1
    this.#hashes[slot] = hash
    this.#count += 1
  }

  #grow(): void {
    const [slots, hashes] = [this.#slots, this.#hashes]
    this.#slots = new Int32Array(2 * slots.length)
    this.#hashes = new Int32Array(2 * slots.length)
    this.#count = 0
    for (let slot = 0; slot < slots.length; slot += 1)
      if (slots[slot] !== 0) this.#put(hashes[slot]!, slots[slot]! - 1)
    for (const { buffer } of [slots, hashes]) buffer.transfer(0)
  }
}
