import { createHash } from 'node:crypto'
import { sortInSteps } from '../entries/sorting.ts'
import { forEachInSteps, PART, type Steps } from '../../base/steps.ts'
import { TextArena } from '../entries/text-arena.ts'
import { type Change, type Op, OPS } from './change.ts'

/** In order: a phase begins when every change of the phase before is final. */
export const PHASES = [
  'free-emails',
  'users',
  'take-emails',
  'groups',
  'members',
  'delete-groups',
  'delete-users',
] as const
export type Phase = (typeof PHASES)[number]

export interface PlannedChange {
  readonly change: Change
  readonly phase: Phase
  readonly fingerprint: string
  /** Deletes: 1 for an entry; for a member list, the removed members without users that the plan deletes. */
  readonly removes: number
}

/** A change without its values. */
export interface ChangeHead {
  readonly op: Op
  readonly id: string
  readonly fingerprint: string
}

const USER_OPS = ['create-user', 'update-user', 'delete-user'] as const
export type UserOp = (typeof USER_OPS)[number]
const ARE_OF_USERS: ReadonlySet<Op> = new Set(USER_OPS)

/** Builds the change of a user from source and directory, always the same. */
export type MakeAgain = (op: UserOp, id: string) => Change

/** The bytes of a row: a fingerprint, the address of the id, and the numbers of the phase and the operation. */
const [PRINT, ADDRESS, PHASE, OP, ROW_BYTES] = [0, 16, 20, 21, 24] as const
const FIRST_ROWS = 1024

/** In order. Changes of users, up to a million, are rows of some bytes, rebuilt on access; those of groups are kept. */
export class PlannedChanges implements Iterable<PlannedChange> {
  readonly #makeAgain: MakeAgain
  readonly #ids = new TextArena()
  #rows = Buffer.alloc(FIRST_ROWS * ROW_BYTES)
  #count = 0
  readonly #ofGroups = new Map<number, Pick<PlannedChange, 'change' | 'removes'>>()
  readonly #counts = new Map<Op, number>()
  #order = new Int32Array(0)

  constructor(makeAgain: MakeAgain) {
    this.#makeAgain = makeAgain
  }

  get length(): number {
    return this.#count
  }

  countOf(op: Op): number {
    return this.#counts.get(op) ?? 0
  }

  /** Returns the row, for `setPhase`. Nothing can be read before `order` is done. */
  add({ change, phase, fingerprint, removes }: PlannedChange): number {
    const row = this.#count
    const at = row * ROW_BYTES
    if (at === this.#rows.length) this.#grow()
    this.#rows.write(fingerprint, at + PRINT, 'hex')
    this.#rows.writeUInt32LE(this.#ids.add(change.id, undefined, undefined), at + ADDRESS)
    this.#rows[at + OP] = OPS.indexOf(change.op)
    this.setPhase(row, phase)
    if (!ARE_OF_USERS.has(change.op)) this.#ofGroups.set(row, { change, removes })
    this.#counts.set(change.op, this.countOf(change.op) + 1)
    this.#count += 1
    return row
  }

  setPhase(row: number, phase: Phase): void {
    this.#rows[row * ROW_BYTES + PHASE] = PHASES.indexOf(phase)
  }

  /** By phase, operation and id. */
  *order(): Steps<void> {
    this.#order = yield* sortInSteps(this.#count, (a, b) => this.#compare(a, b))
  }

  /** Those that pass a test, in the same order. */
  *select(test: (planned: PlannedChange) => boolean): Steps<PlannedChanges> {
    const chosen = new PlannedChanges(this.#makeAgain)
    yield* forEachInSteps(this, (planned) => {
      if (test(planned)) chosen.add(planned)
    })
    yield* chosen.order()
    return chosen
  }

  *[Symbol.iterator](): Generator<PlannedChange, void> {
    for (const row of this.#order) yield this.#changeOf(row)
  }

  /** The changes with these operations; no other is built for it. */
  *of(...ops: readonly Op[]): Generator<PlannedChange, void> {
    for (const row of this.#rowsOf(ops)) yield this.#changeOf(row)
  }

  /** The heads of the changes with these operations; no change is built for it. */
  *headsOf(...ops: readonly Op[]): Generator<ChangeHead, void> {
    for (const row of this.#rowsOf(ops))
      yield { op: this.#opOf(row), id: this.#idOf(row), fingerprint: this.#fingerprintOf(row) }
  }

  idsOf(op: Op): ReadonlySet<string> {
    return new Set(Array.from(this.headsOf(op), ({ id }) => id))
  }

  *fingerprints(): Generator<string, void> {
    for (const row of this.#order) yield this.#fingerprintOf(row)
  }

  /** SHA-256 over the sorted fingerprints, in hexadecimal. */
  *digest(): Steps<string> {
    const digest = createHash('sha256')
    const rows = yield* sortInSteps(this.#count, (a, b) => this.#comparePrints(a, b))
    for (let place = 0; place < rows.length; place += PART) {
      const prints = Array.from(rows.subarray(place, place + PART), (row) => this.#fingerprintOf(row))
      digest.update(`${place === 0 ? '' : '\n'}${prints.join('\n')}`)
      yield
    }
    return digest.digest('hex')
  }

  *#rowsOf(ops: readonly Op[]): Generator<number, void> {
    const wanted = new Set(ops.map((op) => OPS.indexOf(op)))
    if (!ops.some((op) => this.countOf(op) > 0)) return undefined
    for (const row of this.#order) if (wanted.has(this.#rows[row * ROW_BYTES + OP]!)) yield row
  }

  #changeOf(row: number): PlannedChange {
    const phase = PHASES[this.#rows[row * ROW_BYTES + PHASE]!]!
    const fingerprint = this.#fingerprintOf(row)
    const ofGroup = this.#ofGroups.get(row)
    if (ofGroup !== undefined) return { ...ofGroup, phase, fingerprint }
    const op = this.#opOf(row) as UserOp
    const change = this.#makeAgain(op, this.#idOf(row))
    return { change, phase, fingerprint, removes: op === 'delete-user' ? 1 : 0 }
  }

  #fingerprintOf(row: number): string {
    return this.#rows.toString('hex', row * ROW_BYTES + PRINT, row * ROW_BYTES + ADDRESS)
  }

  #idOf(row: number): string {
    return this.#ids.textAt(this.#addressOf(row), 0) ?? ''
  }

  #addressOf(row: number): number {
    return this.#rows.readUInt32LE(row * ROW_BYTES + ADDRESS)
  }

  #opOf(row: number): Op {
    return OPS[this.#rows[row * ROW_BYTES + OP]!]!
  }

  #compare(a: number, b: number): number {
    return (
      this.#rows.readUInt16BE(a * ROW_BYTES + PHASE) - this.#rows.readUInt16BE(b * ROW_BYTES + PHASE) ||
      this.#ids.compare(this.#addressOf(a), this.#addressOf(b), 0)
    )
  }

  /** Like the order of their hexadecimal digits. */
  #comparePrints(a: number, b: number): number {
    const [print, other] = [a * ROW_BYTES + PRINT, b * ROW_BYTES + PRINT]
    return (
      this.#rows.readUIntBE(print, 6) - this.#rows.readUIntBE(other, 6) ||
      this.#rows.compare(this.#rows, other, other + ADDRESS, print, print + ADDRESS)
    )
  }

  #grow(): void {
    this.#rows = Buffer.from(this.#rows.buffer.transfer(2 * this.#rows.length))
  }
}
