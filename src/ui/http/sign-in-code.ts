import { randomBytes } from 'node:crypto'
import { isSameToken } from './same-token.ts'

const LIFE_MS = 3_600_000

/** Part of a link that signs in once, so that a link in a history or a log is of no use. */
export class SignInCode {
  readonly code = randomBytes(24).toString('base64url')
  readonly #ends: number
  #user: string | undefined

  constructor(user: string, now = Date.now()) {
    this.#user = user
    this.#ends = now + LIFE_MS
  }

  /** Undefined for another code, a second use, or after an hour. */
  use(given: string, now = Date.now()): string | undefined {
    if (now >= this.#ends || !isSameToken(given, this.code)) return undefined
    const user = this.#user
    this.#user = undefined
    return user
  }
}
