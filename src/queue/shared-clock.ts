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
