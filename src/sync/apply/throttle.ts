import pLimit, { type LimitFunction } from 'p-limit'

/** Answers after which one more request may be in flight. */
const ANSWERS_FOR_MORE = 100

/**
 * How many requests a worker has in flight. When the service's limit is reached, whatever is in flight is refused (429).
 * So when most of it is, half as many are from then on, down to one, and one more after every hundred answers. A service
 * that refuses one request here and there gets as many as before.
 */
export class Throttle {
  /** Runs what sends requests, when its turn has come. */
  readonly limit: LimitFunction
  /** How many pauses the service has asked for. */
  pauses = 0
  readonly #most: number
  /** Requests that were refused in this pause. */
  #refused = 0
  #answers = 0

  constructor(most: number) {
    this.limit = pLimit(most)
    this.#most = most
  }

  /**
   * The service asked for a pause.
   *
   * @param before what `pauses` was when the chunk began that was told so: what all chunks in flight are told is one pause
   */
  pause(before: number): void {
    if (before !== this.pauses) return
    this.pauses += 1
    this.#refused = 0
  }

  /** The service refused a request and asked for a pause. */
  refused(before: number): void {
    this.pause(before)
    const { concurrency } = this.limit
    const half = Math.floor(concurrency / 2)
    this.#refused += 1
    // Once in a pause.
    if (this.#refused === half + 1) this.limit.concurrency = Math.max(1, half)
  }

  /** The service answered a request or a list. */
  answered(): void {
    this.#answers += 1
    if (this.#answers < ANSWERS_FOR_MORE) return
    this.#answers = 0
    this.limit.concurrency = Math.min(this.#most, this.limit.concurrency + 1)
  }
}
