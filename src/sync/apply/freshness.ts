interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/**
 * The time since the store last confirmed that the run is still the current one. A suspended machine may stop the
 * monotonic clock, so the larger difference of both clocks counts; a step of the wall clock can only make it too large.
 */
export class Freshness {
  readonly #limitMs: number
  #asked: Moment

  constructor(limitMs: number, asked: Moment = moment()) {
    this.#limitMs = limitMs
    this.#asked = asked
  }

  /** Runs a query whose answer confirms that the run is still the current one. */
  async renew<T>(ask: () => Promise<T>): Promise<T> {
    const asked = moment()
    const answer = await ask()
    this.#asked = asked
    return answer
  }

  isFresh(): boolean {
    const { monotonic, wall } = moment()
    return Math.max(monotonic - this.#asked.monotonic, wall - this.#asked.wall) < this.#limitMs
  }
}

function moment(): Moment {
  return { monotonic: performance.now(), wall: Date.now() }
}
