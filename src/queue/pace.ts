export type RequestLimit = {
  readonly requests: number
  readonly perMs: number
}

/** How a limit is kept, in milliseconds except for `batch`. */
export type Pace = {
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

/** Slots that this process has taken and not used. Times are of this process's clock. */
export type SlotsInHand = {
  readonly size: () => number
  readonly add: (slots: readonly number[]) => void
  /** When the first slot may be used; undefined when none is left. Drops the slots that are too late. */
  readonly opensAt: (now: number) => number | undefined
  readonly use: (now: number) => void
}

/**
 * Keeps the requests of this process almost as far apart as slots. After a delay it uses late slots little by little
 * and drops those that are too late, instead of sending all at once.
 */
export function createSlotsInHand({ interval, tolerance, late }: Pace): SlotsInHand {
  const slots: number[] = []
  let earliest = Number.NEGATIVE_INFINITY
  return {
    size: () => slots.length,
    add(more) {
      slots.push(...more)
    },
    opensAt(now) {
      const firstInTime = slots.findIndex((slot) => Math.max(earliest, now) - slot <= late)
      slots.splice(0, firstInTime < 0 ? slots.length : firstInTime)
      const [slot] = slots
      return slot === undefined ? undefined : Math.max(slot, earliest)
    },
    use(now) {
      const slot = slots.shift()
      if (slot === undefined) throw new Error('no slot is in hand')
      earliest = Math.max(slot, earliest, now - tolerance) + interval * (1 - CATCH_UP)
    },
  }
}
