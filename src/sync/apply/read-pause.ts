import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Log } from '../../base/log/log.ts'
import { isAway } from '../../base/database/outage.ts'
import { createPauseLog, pauseFor, pauseOf } from '../../store/pause.ts'
import type { Tables } from '../../store/tables.ts'

export interface ReadPauseDeps {
  readonly db: Kysely<Tables>
  readonly target: string
  /** The same as the workers'. */
  readonly longestMs: number
  readonly log: Log
}

/** Between two looks at the store, and the shortest pause, in milliseconds. */
const LOOK_MS = 1000

/**
 * The pause that a service asks for with 429, as this process's reads of a target obey it. The store has it, so other
 * processes obey it too, and so does this one after a restart.
 */
export class ReadPause {
  readonly #deps: ReadPauseDeps
  readonly #say: ReturnType<typeof createPauseLog>
  /** By `performance.now()`, like the next one. */
  #endsAt = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor(deps: ReadPauseDeps) {
    this.#deps = deps
    this.#say = createPauseLog(deps.log)
  }

  /** Stores that the service asked for a pause. */
  readonly begin = async (askedMs: number): Promise<void> => {
    const { db, target, longestMs } = this.#deps
    const ms = Math.min(Math.max(askedMs, LOOK_MS), longestMs)
    this.#endsAt = Math.max(this.#endsAt, performance.now() + ms)
    await unlessAway(pauseFor(db, target, ms))
    // A look that began before knows nothing of this pause.
    await this.#looking
    await this.#look()
  }

  /** Waits until no pause is left. */
  readonly over = async (signal: AbortSignal | undefined): Promise<void> => {
    for (;;) {
      const isDue = performance.now() - this.#lookedAt >= LOOK_MS
      if (isDue || this.#looking !== undefined) await this.#look()
      const leftMs = this.#endsAt - performance.now()
      if (leftMs <= 0) return
      // Jitter: the first request finds out whether the service answers again, and the others see what it found.
      await sleep(Math.min(leftMs, LOOK_MS) * (1 + Math.random() / 4), undefined, { signal })
    }
  }

  #look(): Promise<void> {
    this.#looking ??= unlessAway(this.#ask()).finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #ask(): Promise<void> {
    this.#lookedAt = performance.now()
    const pause = await pauseOf(this.#deps.db, this.#deps.target)
    // An outage keeps changes from being sent. A read finds out by itself whether the service answers.
    this.#endsAt = pause?.why === 'limited' ? performance.now() + pause.leftMs : 0
    if (pause?.why === 'limited') this.#say(pause)
  }
}

/** While the store is away, what this process knows is obeyed. */
async function unlessAway(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isAway(error)) throw error
  }
}
