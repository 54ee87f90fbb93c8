import type { Kysely } from 'kysely'
import { currentRun } from '../store/journal.ts'
import type { Tables } from '../store/tables.ts'
import type { FenceTimes } from './times.ts'

/**
 * Watches whether the run that attempts belong to is still the sync's current one, while there are any. What an older run
 * wanted must not reach the API after a newer one began to read, also when the request was already being repeated.
 */
export class Fence {
  readonly #db: Kysely<Tables>
  readonly #sync: string
  readonly #times: FenceTimes
  readonly #attempts = new Map<AbortController, number>()
  #timer: NodeJS.Timeout | undefined
  #seenAt = 0

  constructor(db: Kysely<Tables>, sync: string, times: FenceTimes) {
    this.#db = db
    this.#sync = sync
    this.#times = times
  }

  /** Runs an attempt with a signal that is aborted when its run is overtaken. */
  async guard<T>(run: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = new AbortController()
    this.#attempts.set(attempt, run)
    if (this.#timer === undefined) {
      this.#seenAt = Date.now()
      this.#timer = setInterval(() => void this.#look(), this.#times.look)
    }
    try {
      return await work(attempt.signal)
    } finally {
      this.#attempts.delete(attempt)
      if (this.#attempts.size === 0) {
        clearInterval(this.#timer)
        this.#timer = undefined
      }
    }
  }

  async #look(): Promise<void> {
    if (Date.now() - this.#seenAt > this.#times.blind) this.#abortAll()
    try {
      const current = await currentRun(this.#db, this.#sync)
      this.#seenAt = Date.now()
      for (const [attempt, run] of this.#attempts) if (run !== current) attempt.abort()
    } catch {
      // The next look aborts when this goes on.
    }
  }

  #abortAll(): void {
    for (const attempt of this.#attempts.keys()) attempt.abort()
  }
}
