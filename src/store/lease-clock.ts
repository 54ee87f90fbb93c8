/**
 * Milliseconds of a clock that nobody sets and that all threads share; `performance.now()` would begin anew in each.
 */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

const TURNED = 0
const RENEWED = 1

/** What the main thread and the lease thread tell each other about one lease, also while one of them is blocked. */
export class LeaseClock {
  readonly memory: SharedArrayBuffer
  readonly #times: BigInt64Array

  constructor(memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#times = new BigInt64Array(memory)
  }

  /** Called by the main thread whenever its loop turns. */
  turn(): void {
    this.#set(TURNED, now())
  }

  /** Milliseconds since the loop of the main thread has turned. */
  sinceTurn(): number {
    return now() - this.#get(TURNED)
  }

  /** `asked` is when the question was sent, since nobody knows when the database renewed the lease. */
  renewed(asked: number): void {
    this.#set(RENEWED, asked)
  }

  /** Milliseconds since the last renewal was asked for. Does not count while the machine is suspended. */
  age(): number {
    return now() - this.#get(RENEWED)
  }

  #get(index: number): number {
    return Number(Atomics.load(this.#times, index))
  }

  #set(index: number, ms: number): void {
    Atomics.store(this.#times, index, BigInt(Math.trunc(ms)))
  }
}
