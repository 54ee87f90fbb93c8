import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../base/log/log.ts'
import { isAway } from '../../base/database/outage.ts'
import { createPauseLog, pauseFor, pauseOf } from '../../store/pause.ts'
import type { Db } from '../../store/tables.ts'

interface ReadPauseDeps {
  readonly db: Db
  readonly target: string
  readonly longestMs: number
  readonly log: Log
}

/** The interval of lookups in the store, and the shortest pause, in milliseconds. */
const LOOK_MS = 1000

/**
 * The pause that a service asked for with 429, as this process's reads of a target keep it. It is in the store, so
 * other processes keep it too, and so does this one after a restart.
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

  readonly begin = async (askedMs: number): Promise<void> => {
    const { db, target, longestMs } = this.#deps
    const ms = Math.min(Math.max(askedMs, LOOK_MS), longestMs)
    this.#endsAt = Math.max(this.#endsAt, performance.now() + ms)
    await unlessAway(pauseFor(db, target, ms))
    // A lookup that began before does not know this pause.
    await this.#looking
    await this.#look()
  }

  readonly over = async (signal: AbortSignal | undefined): Promise<void> => {
    for (;;) {
      const isDue = performance.now() - this.#lookedAt >= LOOK_MS
      if (isDue || this.#looking !== undefined) await this.#look()
      const leftMs = this.#endsAt - performance.now()
      if (leftMs <= 0) return
      // Jitter: the first request tests the service, and the others see the result.
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
    // An outage pauses changes, not reads: a read finds out by itself whether the service answers.
    this.#endsAt = pause?.why === 'limited' ? performance.now() + pause.leftMs : 0
    if (pause?.why === 'limited') this.#say(pause)
  }
}

/** While the store is away, the pause that this process knows is kept. */
async function unlessAway(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isAway(error)) throw error
  }
}
