import pLimit, { type LimitFunction } from 'p-limit'

/** Answers without a pause after which one more request may be in flight. */
const ANSWERS_FOR_MORE = 100

/**
 * How many requests a worker has in flight. Whatever is in flight when the service asks for a pause (429) is refused as
 * well. So half as many are after each pause, down to one, and one more after every hundred answers.
 */
export class Throttle {
  /** Runs what sends requests, when its turn has come. */
  readonly limit: LimitFunction
  /** How many pauses the service has asked for. */
  pauses = 0
  readonly #most: number
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
    this.#answers = 0
    this.limit.concurrency = Math.max(1, Math.floor(this.limit.concurrency / 2))
  }

  /** The service answered a request or a list. */
  answered(): void {
    this.#answers += 1
    if (this.#answers < ANSWERS_FOR_MORE) return
    this.#answers = 0
    this.limit.concurrency = Math.min(this.#most, this.limit.concurrency + 1)
  }
}
