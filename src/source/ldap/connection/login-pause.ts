import { isDeepStrictEqual } from 'node:util'
import type { Credentials, LoginRefused } from './bind.ts'
import { DirsyncdError } from '../../../errors.ts'

const MINUTE_MS = 60_000

/** After each refusal in a row. Servers lock an account after a few of them within half an hour or so. */
const PAUSES_MS = [15 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS] as const

interface Refusal {
  readonly error: LoginRefused
  readonly credentials: Credentials
  /** How many there were in a row. */
  readonly times: number
  /** How many secrets were refused in a row. */
  readonly secrets: number
  /** By the clock of `performance.now`. */
  readonly endsAt: number
}

/** After so many different ones in a row, another one is not tried at once either: some sources tell a new one each time. */
const MOST_SECRETS = 3

/** Keeps a schedule from having the reader's account locked. Lives as long as the process. */
export class LoginPause {
  #last: Refusal | undefined

  /** Whether the last login was refused. */
  get hasBegun(): boolean {
    return this.#last !== undefined
  }

  /** Throws what the server said, unless enough time has passed or these are other credentials. */
  requireEnd(credentials: Credentials): void {
    if (this.#last === undefined) return
    if (this.#last.secrets < MOST_SECRETS && !isSame(this.#last.credentials, credentials)) return
    const minutes = Math.ceil((this.#last.endsAt - performance.now()) / MINUTE_MS)
    if (minutes <= 0) return
    const { code, message } = this.#last.error
    const rest = `for ${minutes} more minute${minutes === 1 ? '' : 's'}`
    throw new DirsyncdError(
      code,
      `${message}; so that the account is not locked, no schedule tries it again ${rest}` +
        `${this.#last.secrets < MOST_SECRETS ? ', unless the secret changes' : ''}; dirsyncd sync does so at once`,
    )
  }

  /** After a refusal of these credentials. */
  begin(error: LoginRefused, credentials: Credentials): void {
    const { times: before = 0, secrets: refused = 0 } = this.#last ?? {}
    const times = before + 1
    const secrets = this.#last && isSame(this.#last.credentials, credentials) ? refused : refused + 1
    const pause = PAUSES_MS[Math.min(times, PAUSES_MS.length) - 1] ?? PAUSES_MS[0]
    this.#last = { error, credentials, times, secrets, endsAt: performance.now() + pause }
  }

  end(): void {
    this.#last = undefined
  }
}

function isSame(one: Credentials, other: Credentials): boolean {
  return one.password === other.password && isDeepStrictEqual(one.client, other.client)
}
