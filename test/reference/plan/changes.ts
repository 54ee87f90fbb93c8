import { createHash } from 'node:crypto'
import type { Notice } from '../directory/snapshot.ts'
import { sortInSteps } from '../directory/sorting.ts'
import { forEachInSteps, PART, type Steps } from '../directory/steps.ts'
import { TextArena } from '../directory/text-arena.ts'
import { type Change, type Op, OPS } from './change.ts'

/** The phases of a plan in order: a phase begins when every change of the phase before it has its final state. */
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
  /**
   * The fingerprint of the change as the source wants it, whoever has the e-mail now. Whoever rejects the change or
   * leaves it out means that, too. Left out where it is the same.
   */
  readonly wish?: string
  /**
   * How many deletes the change counts as: 1 for a deleted entry; for a member list, the number of removed members. A
   * member whom the plan deletes as a user is not counted again here.
   */
  readonly removes: number
}

/** The ordered changes that make a directory equal to its source, and the notices for the report. */
export interface Plan {
  readonly changes: PlannedChanges
  readonly notices: readonly Notice[]
  /** Users and groups that are equal on both sides. */
  readonly unchanged: number
  /** The fingerprints of the withheld changes that this plan would have made. */
  readonly withheld: readonly string[]
  /** SHA-256 over the fingerprints, in hexadecimal; equal plans have equal digests. */
  readonly digest: string
}

/** What identifies a change, without its values. */
export interface ChangeHead {
  readonly op: Op
  readonly id: string
  readonly fingerprint: string
}

const USER_OPS = ['create-user', 'update-user', 'delete-user'] as const
export type UserOp = (typeof USER_OPS)[number]
const ARE_OF_USERS: ReadonlySet<Op> = new Set(USER_OPS)

/** Makes the change of a user from both sides, each time the same. */
export type MakeAgain = (op: UserOp, id: string) => Change

/** The bytes of a row: a fingerprint, the address of the id, and the numbers of the phase and the operation. */
const [PRINT, ADDRESS, PHASE, OP, ROW_BYTES] = [0, 16, 20, 21, 24] as const
const FIRST_ROWS = 1024

/**
 * The changes of a plan in their order. There may be a million of users, so these are kept as a row each, of some bytes,
 * and made again from both sides when they are asked for. Those of groups are kept as they are.
 */
export class PlannedChanges implements Iterable<PlannedChange> {
  readonly #makeAgain: MakeAgain
  readonly #ids = new TextArena()
  #rows = Buffer.alloc(FIRST_ROWS * ROW_BYTES)
  #count = 0
  readonly #ofGroups = new Map<number, Pick<PlannedChange, 'change' | 'removes'>>()
  /** By the row. */
  readonly #wishes = new Map<number, string>()
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

  /** Returns the row, for `setPhase`. Nothing that is added can be read before `order` is done. */
  add({ change, phase, fingerprint, wish, removes }: PlannedChange): number {
    const row = this.#count
    const at = row * ROW_BYTES
    if (at === this.#rows.length) this.#grow()
    this.#rows.write(fingerprint, at + PRINT, 'hex')
    this.#rows.writeUInt32LE(this.#ids.add(change.id, undefined, undefined), at + ADDRESS)
    this.#rows[at + OP] = OPS.indexOf(change.op)
    this.setPhase(row, phase)
    if (!ARE_OF_USERS.has(change.op)) this.#ofGroups.set(row, { change, removes })
    if (wish !== undefined) this.#wishes.set(row, wish)
    this.#counts.set(change.op, this.countOf(change.op) + 1)
    this.#count += 1
    return row
  }

  setPhase(row: number, phase: Phase): void {
    this.#rows[row * ROW_BYTES + PHASE] = PHASES.indexOf(phase)
  }

  /** Puts the changes in their order: by phase, operation and id. */
  *order(): Steps<undefined> {
    this.#order = yield* sortInSteps(this.#count, (a, b) => this.#compare(a, b))
    return undefined
  }

  /** Some of the changes, in the same order; those of groups may be other ones, those of users are as `ofUser` says. */
  *select(
    choose: (planned: PlannedChange) => PlannedChange | undefined,
    ofUser: (change: Change) => Change,
  ): Steps<PlannedChanges> {
    const chosen = new PlannedChanges((op, id) => ofUser(this.#makeAgain(op, id)))
    yield* forEachInSteps(this, (planned) => {
      const change = choose(planned)
      if (change !== undefined) chosen.add(change)
    })
    yield* chosen.order()
    return chosen
  }

  *[Symbol.iterator](): Generator<PlannedChange, undefined> {
    for (const row of this.#order) yield this.#changeOf(row)
    return undefined
  }

  /** The changes with these operations; no other is made for it. */
  *of(...ops: readonly Op[]): Generator<PlannedChange, undefined> {
    for (const row of this.#rowsOf(ops)) yield this.#changeOf(row)
    return undefined
  }

  /** What identifies the changes with these operations; none is made for it. */
  *headsOf(...ops: readonly Op[]): Generator<ChangeHead, undefined> {
    for (const row of this.#rowsOf(ops))
      yield { op: this.#opOf(row), id: this.#idOf(row), fingerprint: this.#fingerprintOf(row) }
    return undefined
  }

  idsOf(op: Op): ReadonlySet<string> {
    return new Set(Array.from(this.headsOf(op), ({ id }) => id))
  }

  *fingerprints(): Generator<string, undefined> {
    for (const row of this.#order) yield this.#fingerprintOf(row)
    return undefined
  }

  /** What decisions about the changes are looked for by. */
  *decidable(): Generator<Pick<PlannedChange, 'fingerprint' | 'wish'>, undefined> {
    for (const row of this.#order) yield { fingerprint: this.#fingerprintOf(row), ...this.#wishOf(row) }
    return undefined
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

  *#rowsOf(ops: readonly Op[]): Generator<number, undefined> {
    const wanted = new Set(ops.map((op) => OPS.indexOf(op)))
    if (!ops.some((op) => this.countOf(op) > 0)) return undefined
    for (const row of this.#order) if (wanted.has(this.#rows[row * ROW_BYTES + OP]!)) yield row
    return undefined
  }

  #changeOf(row: number): PlannedChange {
    const phase = PHASES[this.#rows[row * ROW_BYTES + PHASE]!]!
    const fingerprint = this.#fingerprintOf(row)
    const ofGroup = this.#ofGroups.get(row)
    if (ofGroup !== undefined) return { ...ofGroup, phase, fingerprint }
    const op = this.#opOf(row) as UserOp
    const change = this.#makeAgain(op, this.#idOf(row))
    return { change, phase, fingerprint, ...this.#wishOf(row), removes: op === 'delete-user' ? 1 : 0 }
  }

  #wishOf(row: number): Pick<PlannedChange, 'wish'> {
    const wish = this.#wishes.get(row)
    return wish === undefined ? {} : { wish }
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

  /** As their hexadecimal digits are ordered. */
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
