import { sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import type { Obstacle } from './readiness.ts'
import { withinTime } from '../base/within-time.ts'

/** In milliseconds. */
interface LookTimes {
  readonly patience: number
  readonly fresh: number
  /** An older probe never ends, as on a lost connection: then another one begins. */
  readonly abandon: number
}

const TIMES: LookTimes = { patience: 4000, fresh: 1000, abandon: 30_000 }

/** One probe for all simultaneous requests; logs changes of the result. */
export class ReadyLook {
  readonly #look: () => Promise<Obstacle | undefined>
  readonly #log: Log
  readonly #times: LookTimes
  #looking: { readonly since: number; readonly answer: Promise<string | undefined> } | undefined
  #said: string | undefined

  constructor(look: () => Promise<Obstacle | undefined>, log: Log, times: LookTimes = TIMES) {
    this.#look = look
    this.#log = log
    this.#times = times
  }

  /** One sentence; `undefined` while the process is ready. Never throws. */
  readonly why = async (): Promise<string | undefined> => {
    const { patience, abandon } = this.#times
    const now = performance.now()
    if (this.#looking === undefined || now - this.#looking.since > abandon) this.#begin(now)
    const { since, answer } = this.#looking!
    try {
      return await withinTime(answer, Math.max(0, patience - (now - since)))
    } catch {
      return this.#say({ why: 'the store or the queue does not answer' })
    }
  }

  #begin(since: number): void {
    const answer = this.#look().then(
      (obstacle) => this.#say(obstacle),
      (error: unknown) => this.#say({ why: 'the store cannot be asked', error: sentence(error) }),
    )
    const looking = { since, answer }
    this.#looking = looking
    void answer.finally(() => {
      setTimeout(() => {
        if (this.#looking === looking) this.#looking = undefined
      }, this.#times.fresh).unref()
    })
  }

  #say(obstacle: Obstacle | undefined): string | undefined {
    const why = obstacle?.why
    if (why !== this.#said) {
      if (obstacle === undefined) this.#log.info('ready again')
      else this.#log.warn(obstacle, 'not ready')
    }
    this.#said = why
    return why
  }
}
