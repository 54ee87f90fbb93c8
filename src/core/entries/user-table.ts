import { canonicalEmail } from './normalize.ts'
import { PART, type Steps } from '../../base/steps.ts'
import { TextArena, textHash } from './text-arena.ts'

export const SIDE = { source: 1, directory: 2 } as const
type Side = (typeof SIDE)[keyof typeof SIDE]
const BOTH = SIDE.source | SIDE.directory

const [ID, EMAIL, NAME] = [0, 1, 2] as const
const [OWN, EMPLOYEE_ID] = [0, 1] as const

const FIRST_ROWS = 1024

/** A row: addresses of texts, hashes, the sides that have it, and the shared part of its origin. */
const CELLS = 6
const [ADDRESS, ID_HASH, EMAIL_HASH, SIDES, ORIGIN, SHARED] = [0, 1, 2, 3, 4, 5] as const
/** With more parts than a directory has containers, few entries share one. */
const MAX_SHARED = 100_000

/**
 * The users of source and directory in little memory. A row is id, e-mail and name; a user that is equal on both sides
 * is one row, found without comparing texts. A side has at most one row for an id.
 */
export class UserTable {
  readonly #texts = new TextArena()
  #count = 0
  /** Row after row, so that a row is in one place of the memory. */
  #cells = new Int32Array(FIRST_ROWS * CELLS)
  /** Open addressing by the hash of the id: a slot holds a row and one, or 0. */
  #slots = new Int32Array(2 * FIRST_ROWS)
  /** The shared part of origins: a container's DN, or the name of a file. */
  readonly #shared: SharedPart[] = [{ text: '', isFirst: false }]
  readonly #sharedNumbers = new Map([['', 0]])
  readonly #sizes = { [SIDE.source]: 0, [SIDE.directory]: 0 }

  get rows(): number {
    return this.#count
  }

  sizeOf(side: Side): number {
    return this.#sizes[side]
  }

  isOn(row: number, side: Side): boolean {
    return (this.#cell(row, SIDES) & side) !== 0
  }

  isOnBoth(row: number): boolean {
    return this.#cell(row, SIDES) === BOTH
  }

  idOf(row: number): string {
    return this.#texts.textAt(this.#cell(row, ADDRESS), ID) ?? ''
  }

  emailOf(row: number): string | undefined {
    return this.#texts.textAt(this.#cell(row, ADDRESS), EMAIL)
  }

  nameOf(row: number): string | undefined {
    return this.#texts.textAt(this.#cell(row, ADDRESS), NAME)
  }

  isSameId(row: number, other: number): boolean {
    return (
      this.#cell(row, ID_HASH) === this.#cell(other, ID_HASH) &&
      this.#texts.isSame(this.#cell(row, ADDRESS), this.#cell(other, ADDRESS), ID)
    )
  }

  /** The side's row with the id of this row, or -1. */
  rowOn(side: Side, row: number): number {
    if (this.isOn(row, side)) return row
    for (let slot = this.#slotOf(this.#cell(row, ID_HASH)); ; slot = this.#next(slot)) {
      const other = this.#slots[slot]! - 1
      if (other < 0 || (this.isOn(other, side) && this.isSameId(row, other))) return other
    }
  }

  find(id: string, side: Side): number {
    const hash = textHash(id)
    for (let slot = this.#slotOf(hash); ; slot = this.#next(slot)) {
      const row = this.#slots[slot]! - 1
      if (row < 0) return -1
      if (this.#cell(row, ID_HASH) !== hash || !this.isOn(row, side)) continue
      if (this.#texts.has(this.#cell(row, ADDRESS), ID, id)) return row
    }
  }

  /** The row with these values, new or old. Its sides do not change. */
  rowOf(id: string, email: string | undefined, name: string | undefined): number {
    const hash = textHash(id)
    let slot = this.#slotOf(hash)
    for (; this.#slots[slot] !== 0; slot = this.#next(slot)) {
      const row = this.#slots[slot]! - 1
      if (this.#cell(row, ID_HASH) !== hash) continue
      if (this.#texts.isRecord(this.#cell(row, ADDRESS), id, email, name)) return row
    }
    const row = this.#count
    if (row * CELLS === this.#cells.length) this.#growCells()
    this.#cells[row * CELLS + ADDRESS] = this.#texts.add(id, email, name)
    this.#cells[row * CELLS + ID_HASH] = hash
    this.#cells[row * CELLS + EMAIL_HASH] = email === undefined ? 0 : textHash(canonicalEmail(email))
    this.#cells[row * CELLS + SIDES] = 0
    this.#slots[slot] = row + 1
    this.#count += 1
    if (this.#count * 5 > this.#slots.length * 3) this.#growSlots()
    return row
  }

  /** The side must not have another row of this id. */
  put(row: number, side: Side): void {
    if (this.isOn(row, side)) return
    this.#cells[row * CELLS + SIDES]! |= side
    this.#sizes[side] += 1
  }

  remove(row: number, side: Side): void {
    if (!this.isOn(row, side)) return
    this.#cells[row * CELLS + SIDES]! &= ~side
    this.#sizes[side] -= 1
  }

  /** Rows whose e-mail another id may have: equal e-mails have equal hashes, but so have a few different ones. */
  *rowsSharingEmail(): Steps<readonly number[]> {
    // Slots by the hash of the e-mail: a row and one, and whether another id came with the same hash.
    const mask = this.#slots.length - 1
    const firsts = new Int32Array(mask + 1)
    const isShared = new Uint8Array(mask + 1)
    const slotOf = (row: number): number => {
      const hash = this.#cell(row, EMAIL_HASH)
      let slot = hash & mask
      while (firsts[slot] !== 0 && this.#cell(firsts[slot]! - 1, EMAIL_HASH) !== hash)
        slot = (slot + 1) & mask
      return slot
    }
    for (let row = 0; row < this.#count; row += 1) {
      if (row % PART === 0) yield
      if (!this.#hasEmail(row)) continue
      const slot = slotOf(row)
      if (firsts[slot] === 0) firsts[slot] = row + 1
      else if (!this.isSameId(firsts[slot]! - 1, row)) isShared[slot] = 1
    }
    const rows: number[] = []
    for (let row = 0; row < this.#count; row += 1) {
      if (row % PART === 0) yield
      if (this.#hasEmail(row) && isShared[slotOf(row)] === 1) rows.push(row)
    }
    return rows
  }

  /** Frees the memory at once; nothing can be read any more. */
  release(): void {
    this.#texts.release()
    for (const { buffer } of [this.#cells, this.#slots]) buffer.transfer(0)
  }

  #hasEmail(row: number): boolean {
    return this.#cell(row, SIDES) !== 0 && this.#texts.isThere(this.#cell(row, ADDRESS), EMAIL)
  }

  clear(side: Side): void {
    if (this.#sizes[side] === 0) return
    for (let row = 0; row < this.#count; row += 1) this.#cells[row * CELLS + SIDES]! &= ~side
    this.#sizes[side] = 0
  }

  setOrigin(row: number, from: string, employeeId: string | undefined): void {
    const { shared, own } = partsOf(from)
    const number = this.#numberOf(shared)
    this.#cells[row * CELLS + SHARED] = number ?? 0
    this.#cells[row * CELLS + ORIGIN] = this.#texts.add(
      number === undefined ? from : own,
      employeeId,
      undefined,
    )
  }

  fromOf(row: number): string {
    const { own, shared } = this.originOf(row)
    return shared.isFirst ? shared.text + own : own + shared.text
  }

  /** Entries that share a part have the same object for it. */
  originOf(row: number): { readonly own: string; readonly shared: SharedPart } {
    const own = this.#texts.textAt(this.#cell(row, ORIGIN), OWN) ?? ''
    return { own, shared: this.#shared[this.#cell(row, SHARED)]! }
  }

  employeeIdOf(row: number): string | undefined {
    return this.#texts.textAt(this.#cell(row, ORIGIN), EMPLOYEE_ID)
  }

  #numberOf(part: SharedPart): number | undefined {
    const known = this.#sharedNumbers.get(part.text)
    if (known !== undefined) return this.#shared[known]!.isFirst === part.isFirst ? known : undefined
    if (this.#shared.length >= MAX_SHARED) return undefined
    this.#sharedNumbers.set(part.text, this.#shared.length)
    return this.#shared.push(part) - 1
  }

  #slotOf(hash: number): number {
    return hash & (this.#slots.length - 1)
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1)
  }

  #cell(row: number, cell: number): number {
    return this.#cells[row * CELLS + cell]!
  }

  #growCells(): void {
    const rows = Math.ceil((1.5 * this.#cells.length) / CELLS)
    // Unlike a copy, this mostly needs no second block of memory.
    this.#cells = new Int32Array(this.#cells.buffer.transfer(rows * CELLS * this.#cells.BYTES_PER_ELEMENT))
  }

  #growSlots(): void {
    const size = 2 * this.#slots.length
    this.#slots.buffer.transfer(0)
    this.#slots = new Int32Array(size)
    for (let row = 0; row < this.#count; row += 1) {
      let slot = this.#slotOf(this.#cell(row, ID_HASH))
      while (this.#slots[slot] !== 0) slot = this.#next(slot)
      this.#slots[slot] = row + 1
    }
  }
}

interface SharedPart {
  readonly text: string
  readonly isFirst: boolean
}

/** Shared is all but the first part of a DN, and all but the number of a file's row. */
function partsOf(from: string): { readonly own: string; readonly shared: SharedPart } {
  let comma = from.indexOf(',')
  if (from.lastIndexOf('=', comma) < 0) {
    const number = from.lastIndexOf(' ') + 1
    return { own: from.slice(number), shared: { text: from.slice(0, number), isFirst: true } }
  }
  // The comma may belong to the value of the first part.
  while (comma > 0 && from[comma - 1] === '\\') comma = from.indexOf(',', comma + 1)
  if (comma < 0) comma = from.length
  return { own: from.slice(0, comma), shared: { text: from.slice(comma), isFirst: false } }
}
