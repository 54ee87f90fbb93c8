/** A moment, in milliseconds of two clocks: one that nobody sets and that all threads share, and the wall clock. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/** `performance.now()` would begin anew in each thread. */
export function now(): Moment {
  return { monotonic: Number(process.hrtime.bigint() / 1_000_000n), wall: Date.now() }
}

const TURNED = 0
const RENEWED = 1
const RENEWED_WALL = 2
const LONG_AGO = -(2 ** 52)

/** What the main thread and the lease thread tell each other about one lease, also while one of them is blocked. */
export class LeaseClock {
  readonly memory: SharedArrayBuffer
  readonly #times: BigInt64Array

  constructor(memory = new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#times = new BigInt64Array(memory)
  }

  /** Called by the main thread whenever its loop turns. */
  turn(): void {
    this.#set(TURNED, now().monotonic)
  }

  /** Milliseconds since the loop of the main thread has turned. */
  sinceTurn(): number {
    return now().monotonic - this.#get(TURNED)
  }

  /** `asked` is when the question was sent, since nobody knows when the database renewed the lease. */
  renewed(asked: Moment): void {
    this.#set(RENEWED, asked.monotonic)
    this.#set(RENEWED_WALL, asked.wall)
  }

  lost(): void {
    this.renewed({ monotonic: LONG_AGO, wall: LONG_AGO })
  }

  /** Milliseconds since the last renewal was asked for. Does not count while the machine is suspended. */
  age(): number {
    return now().monotonic - this.#get(RENEWED)
  }

  /** The same by the clock that says more: the wall clock counts suspended time too, and may have been set. */
  greatestAge(): number {
    return Math.max(this.age(), now().wall - this.#get(RENEWED_WALL))
  }

  #get(index: number): number {
    return Number(Atomics.load(this.#times, index))
  }

  #set(index: number, ms: number): void {
    Atomics.store(this.#times, index, BigInt(Math.trunc(ms)))
  }
}
