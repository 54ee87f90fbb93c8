import { randomBytes } from 'node:crypto'
import { isSameToken } from './same-token.ts'

/** For how long a code can be used, in milliseconds. */
const LIFE_MS = 3_600_000

/** Part of a link that signs in one operator, once: afterwards, a history or a log that has the link is of no use. */
export class SignInCode {
  readonly code = randomBytes(24).toString('base64url')
  readonly #ends: number
  #user: string | undefined

  /** @param user whom it signs in */
  constructor(user: string, now = Date.now()) {
    this.#user = user
    this.#ends = now + LIFE_MS
  }

  /** The user of this code; undefined for another code, a second use, or an hour later. */
  use(given: string, now = Date.now()): string | undefined {
    if (now >= this.#ends || !isSameToken(given, this.code)) return undefined
    const user = this.#user
    this.#user = undefined
    return user
  }
}
