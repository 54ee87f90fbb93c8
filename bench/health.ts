import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'

/** How a daemon answered `/healthz` while it worked. */
export interface HealthAnswers {
  readonly asked: number
  /** Without an answer within 10 s, or with another one than 200. */
  readonly failed: number
  readonly slowestMs: number
}

const EVERY_MS = 1000
const TIMEOUT_MS = 10_000

/** Asks the daemon every second, from the beginning of the work to its end. */
export class HealthWatch {
  readonly #answers = { asked: 0, failed: 0, slowestMs: 0 }

  get answers(): HealthAnswers {
    return this.#answers
  }

  async during<T>(url: string, work: () => Promise<T>): Promise<T> {
    const ended = new AbortController()
    const asking = this.#askUntil(url, ended.signal)
    try {
      return await work()
    } finally {
      ended.abort()
      await asking
    }
  }

  async #askUntil(url: string, ended: AbortSignal): Promise<void> {
    for (let due = performance.now(); !ended.aborted; due += EVERY_MS) {
      await this.#ask(url)
      await sleep(Math.max(0, due + EVERY_MS - performance.now()), undefined, { signal: ended }).catch(
        () => undefined,
      )
    }
  }

  async #ask(url: string): Promise<void> {
    const start = performance.now()
    this.#answers.asked += 1
    try {
      const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      await body.dump()
      if (statusCode !== 200) this.#answers.failed += 1
    } catch {
      this.#answers.failed += 1
    }
    this.#answers.slowestMs = Math.max(this.#answers.slowestMs, performance.now() - start)
  }
}
