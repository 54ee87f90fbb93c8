import { setTimeout as sleep } from 'node:timers/promises'
import type { Interception, ProxiedRequest } from '../support/api-proxy.ts'
import type { ApiTrouble } from './schedule.ts'
import { partsOf } from './write-history.ts'

const PAGE = '<html><body>Please log in to the wireless network</body></html>'

interface Active {
  readonly trouble: ApiTrouble | 'retry-after-day'
  readonly share: number
}

/** What goes wrong between dirsyncd and the service at the moment. */
export class ApiFaults {
  readonly #random: () => number
  readonly #active = new Set<Active>()

  constructor(random: () => number) {
    this.#random = random
  }

  /** Disposing the result ends the fault. */
  begin(trouble: Active['trouble'], share: number): Disposable {
    const active = { trouble, share }
    this.#active.add(active)
    return { [Symbol.dispose]: () => void this.#active.delete(active) }
  }

  async intercept(request: ProxiedRequest): Promise<Interception | undefined> {
    for (const { trouble, share } of this.#active) {
      if (this.#random() < share) return this.#do(trouble, request)
    }
    return undefined
  }

  async #do(trouble: Active['trouble'], request: ProxiedRequest): Promise<Interception | undefined> {
    switch (trouble) {
      case 'errors':
        return { status: 500, answer: { title: 'broken' } }
      case 'unavailable':
        return { status: 503, answer: { title: 'away' }, headers: { 'retry-after': '1' } }
      case 'busy':
        return { status: 429, answer: { title: 'busy' }, headers: { 'retry-after': '1' } }
      case 'retry-after-day':
        return { status: 429, answer: { title: 'busy' }, headers: { 'retry-after': '86400' } }
      case 'lost':
        return { afterwards: 'cut' }
      case 'half':
        return { afterwards: 'half' }
      case 'page-before':
        return { status: this.#pageStatus(), page: PAGE }
      case 'page-after':
        return { afterwards: { status: this.#pageStatus(), page: PAGE } }
      case 'away':
        return 'cut'
      case 'list-first':
      case 'list-half':
        return partOfList(trouble, request)
      case 'slow': {
        await sleep(800 * this.#random())
        // What the client has given up does not reach the service late: no client could undo that.
        return request.isGone() ? 'cut' : undefined
      }
    }
  }

  #pageStatus(): number {
    return [200, 404, 502][Math.floor(3 * this.#random())]!
  }
}

/** The service gets the first entry alone, or the first half, whose answer is lost. */
function partOfList(trouble: 'list-first' | 'list-half', { body }: ProxiedRequest): Interception | undefined {
  const parts = partsOf(body)
  if (parts.length < 2) return undefined
  if (trouble === 'list-first') return { body: parts[0]! }
  return { body: parts.slice(0, Math.ceil(parts.length / 2)).join('&'), afterwards: 'cut' }
}
