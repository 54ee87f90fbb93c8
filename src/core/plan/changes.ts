import { sortInSteps } from '../../base/sorting.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import { TextArena } from '../entries/text-arena.ts'
import { type Change, fingerprint, kindOf, type Op, OPS } from './change.ts'

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

type UserOp = 'create-user' | 'update-user' | 'delete-user'
type OfGroup = Pick<PlannedChange, 'change' | 'removes'>

type MakeAgain = (op: UserOp, id: string) => Change

/** The bytes of a row: the address of the id, and the numbers of the phase and the operation. */
const [ADDRESS, PHASE, OP, ROW_BYTES] = [0, 4, 5, 6] as const
const FIRST_ROWS = 1024
const TAKE_EMAILS = PHASES.indexOf('take-emails')

/** In order. Changes of users, up to a million, are rows of some bytes, rebuilt on access; those of groups are kept. */
export class PlannedChanges implements Iterable<PlannedChange> {
  readonly #makeAgain: MakeAgain
  readonly #ids = new TextArena()
  #rows = Buffer.alloc(FIRST_ROWS * ROW_BYTES)
  #count = 0
  readonly #ofGroups = new Map<number, OfGroup>()
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

  /** Nothing can be read before `order` is done. */
  add({ op, id, phase }: Pick<Change, 'op' | 'id'> & { readonly phase: Phase }, ofGroup?: OfGroup): void {
    const at = this.#count * ROW_BYTES
    if (at === this.#rows.length) this.#rows = Buffer.from(this.#rows.buffer.transfer(2 * at))
    this.#rows.writeUInt32LE(this.#ids.add(id, undefined, undefined), at + ADDRESS)
    this.#rows[at + PHASE] = PHASES.indexOf(phase)
    this.#rows[at + OP] = OPS.indexOf(op)
    if (ofGroup !== undefined) this.#ofGroups.set(this.#count, ofGroup)
    this.#counts.set(op, this.countOf(op) + 1)
    this.#count += 1
  }

  *order(): Steps<void> {
    this.#order = yield* sortInSteps(this.#count, (a, b) => this.#compare(a, b))
  }

  *select(test: (change: Change) => boolean): Steps<PlannedChanges> {
    const chosen = new PlannedChanges(this.#makeAgain)
    yield* forEachInSteps(this, ({ change, phase, removes }) => {
      const { op, id } = change
      if (!test(change)) return
      chosen.add({ op, id, phase }, kindOf(op) === 'user' ? undefined : { change, removes })
    })
    yield* chosen.order()
    return chosen
  }

  *[Symbol.iterator](): Generator<PlannedChange, void> {
    for (const row of this.#order) yield this.#changeOf(row)
  }

  *of(op: Op): Generator<PlannedChange, void> {
    for (const row of this.#order)
      if (OPS[this.#rows[row * ROW_BYTES + OP]!] === op) yield this.#changeOf(row)
  }

  #changeOf(row: number): PlannedChange {
    const phase = PHASES[this.#rows[row * ROW_BYTES + PHASE]!]!
    const ofGroup = this.#ofGroups.get(row)
    if (ofGroup !== undefined) return { ...ofGroup, phase, fingerprint: fingerprint(ofGroup.change) }
    const op = OPS[this.#rows[row * ROW_BYTES + OP]!]! as UserOp
    const change = this.#makeAgain(op, this.#ids.textAt(this.#addressOf(row), 0) ?? '')
    return { change, phase, fingerprint: fingerprint(change), removes: op === 'delete-user' ? 1 : 0 }
  }

  #addressOf(row: number): number {
    return this.#rows.readUInt32LE(row * ROW_BYTES + ADDRESS)
  }

  /** By phase, operation and id; where one change frees the e-mail of another, as they were added. */
  #compare(a: number, b: number): number {
    const phase = this.#rows[a * ROW_BYTES + PHASE]!
    if (phase === TAKE_EMAILS && this.#rows[b * ROW_BYTES + PHASE] === phase) return a - b
    return (
      this.#rows.readUInt16BE(a * ROW_BYTES + PHASE) - this.#rows.readUInt16BE(b * ROW_BYTES + PHASE) ||
      this.#ids.compare(this.#addressOf(a), this.#addressOf(b), 0)
    )
  }
}
