import type { Kysely } from 'kysely'
import { currentRun } from '../store/journal.ts'
import type { Tables } from '../store/tables.ts'

const LOOK_MS = 1000
/** Without an answer of the store for so long, nobody knows whether the run is still the current one. */
const BLIND_MS = 4000

/** How soon after it was overtaken no request of a run is under way any more; more than `BLIND_MS` by a margin. */
export const SETTLE_MS = 6000

/**
 * Watches whether the run that attempts belong to is still the sync's current one, while there are any. What an older run
 * wanted must not reach the API after a newer one began to read, also when the request was already being repeated.
 */
export class Fence {
  readonly #db: Kysely<Tables>
  readonly #sync: string
  readonly #attempts = new Map<AbortController, number>()
  #timer: NodeJS.Timeout | undefined
  #seenAt = 0

  constructor(db: Kysely<Tables>, sync: string) {
    this.#db = db
    this.#sync = sync
  }

  /** Runs an attempt with a signal that is aborted when its run is overtaken. */
  async guard<T>(run: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = new AbortController()
    this.#attempts.set(attempt, run)
    if (this.#timer === undefined) {
      this.#seenAt = Date.now()
      this.#timer = setInterval(() => void this.#look(), LOOK_MS)
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
    if (Date.now() - this.#seenAt > BLIND_MS) this.#abortAll()
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
