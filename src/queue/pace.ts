export interface RequestLimit {
  readonly requests: number
  readonly perMs: number
}

/** How a limit is kept, in milliseconds except for `batch`. */
interface Pace {
  /** Between two slots. */
  readonly interval: number
  readonly batch: number
  /** A request that is at most so late does not delay the next ones. */
  readonly tolerance: number
  /** The shortest wait: slots that open during it are used together. */
  readonly tick: number
  /** A slot that is later than this is dropped. */
  readonly late: number
  /** More than all processes together can reserve: slots beyond it are wrong. */
  readonly horizon: number
  /** How long nothing is sent after slots beyond the horizon. */
  readonly pause: number
}

/** The unused share of the limit. */
const RESERVE = 0.02
/** A delayed process uses its slots faster by this share; the rest of the reserve is tolerance. */
const CATCH_UP = RESERVE / 2
/** The slots of this time are taken at once: a slow store gives the next ones before these are used. */
const BATCH_MS = 100
const HORIZON_BATCHES = 64
/** A busy process is sometimes delayed by so much. Dropping its slots would leave much of the limit unused. */
const LATE_MS = 100
const TICK_MS = 5

export function paceOf({ requests, perMs }: RequestLimit): Pace {
  const interval = perMs / requests / (1 - RESERVE)
  const batch = Math.max(1, Math.floor(BATCH_MS / interval))
  const tolerance = perMs * (RESERVE - CATCH_UP)
  return {
    interval,
    batch,
    tolerance,
    tick: Math.min(TICK_MS, tolerance / 2),
    // A token bucket keeps the rest of the period for late requests.
    late: Math.max(perMs * RESERVE, Math.min(LATE_MS, perMs - interval)),
    horizon: HORIZON_BATCHES * batch * interval,
    pause: perMs,
  }
}

/**
 * Slots that this process has taken and not used, in times of its own clock. Keeps its requests almost as far apart as
 * slots. After a delay it uses late slots little by little and drops those that are too late, instead of sending all at
 * once.
 */
export class SlotsInHand {
  readonly #pace: Pace
  readonly #slots: number[] = []
  #earliest = Number.NEGATIVE_INFINITY

  constructor(pace: Pace) {
    this.#pace = pace
  }

  get size(): number {
    return this.#slots.length
  }

  add(slots: readonly number[]): void {
    this.#slots.push(...slots)
  }

  /** When the first slot may be used; undefined when none is left. Drops the slots that are too late. */
  opensAt(now: number): number | undefined {
    const from = Math.max(this.#earliest, now)
    const firstInTime = this.#slots.findIndex((slot) => from - slot <= this.#pace.late)
    this.#slots.splice(0, firstInTime < 0 ? this.#slots.length : firstInTime)
    const [slot] = this.#slots
    return slot === undefined ? undefined : Math.max(slot, this.#earliest)
  }

  use(now: number): void {
    const { interval, tolerance } = this.#pace
    const slot = this.#slots.shift()
    if (slot === undefined) throw new Error('no slot is in hand')
    this.#earliest = Math.max(slot, this.#earliest, now - tolerance) + interval * (1 - CATCH_UP)
  }
}

/** The largest drift of a clock, also while it is being corrected. */
const DRIFT = 1 / 10_000

/**
 * Computes by how much the shared clock is ahead of this process's, from the quickest recent answer, because the time
 * that an answer takes is the error. Takes the smallest possible lead, so that no slot is used too early.
 */
export function createClock(): (asked: number, answered: number, now: number) => number {
  let best = { trip: Number.POSITIVE_INFINITY, at: 0, offset: 0 }
  return (asked, answered, now) => {
    const trip = answered - asked
    const drift = (answered - best.at) * DRIFT
    // One of the two clocks was set, or stood still while the machine was suspended.
    const jumped = now - asked < best.offset - drift || now - answered > best.offset + best.trip + drift
    if (jumped || trip <= best.trip + drift) best = { trip, at: answered, offset: now - answered }
    return best.offset
  }
}
