import pLimit, { type LimitFunction } from 'p-limit'

/** After so many answers, one more request may be in flight. */
const ANSWERS_FOR_MORE = 100

/**
 * Limits the requests that a worker has in flight. At the service's limit, all requests in flight are refused (429):
 * when most of them are, the limit is halved, down to one, and grows by one after every hundred answers. Single
 * refusals do not lower it.
 */
export class Throttle {
  readonly limit: LimitFunction
  pauses = 0
  readonly #most: number
  /** Requests that were refused in this pause. */
  #refused = 0
  #answers = 0

  constructor(most: number) {
    this.limit = pLimit(most)
    this.#most = most
  }

  /** @param before `pauses` at the start of the chunk: what all chunks in flight are told is one pause */
  pause(before: number): void {
    if (before !== this.pauses) return
    this.pauses += 1
    this.#refused = 0
  }

  refused(before: number): void {
    this.pause(before)
    const { concurrency } = this.limit
    const half = Math.floor(concurrency / 2)
    this.#refused += 1
    // Once in a pause.
    if (this.#refused === half + 1) this.limit.concurrency = Math.max(1, half)
  }

  answered(): void {
    this.#answers += 1
    if (this.#answers < ANSWERS_FOR_MORE) return
    this.#answers = 0
    this.limit.concurrency = Math.min(this.#most, this.limit.concurrency + 1)
  }
}
