/** A crystal is wrong by so much at most; a clock that is being corrected is, too. */
const DRIFT = 1 / 10_000

/**
 * What the shared clock is ahead of this process's, from the quickest answer of late: the time that an answer
 * takes is the error. The answer is taken for as old as it can be, so that slots are never met too early.
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
