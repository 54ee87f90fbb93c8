import type { Delivered } from './notification.ts'

export interface Channel extends AsyncDisposable {
  /** Rejects with an `Undelivered`, or with another error, where delivery is not confirmed. */
  send(notification: Delivered, signal: AbortSignal): Promise<void>
}

/** Has no cause, because its text may repeat a secret. */
export class Undelivered extends Error {
  override readonly name = 'Undelivered'
  /** The receiver refuses for good, such as an unknown address. */
  readonly isRefused: boolean
  /** The receiver's `Retry-After`. */
  readonly waitMs: number | undefined

  constructor(message: string, { isRefused = false, waitMs }: UndeliveredOptions = {}) {
    super(message)
    this.isRefused = isRefused
    this.waitMs = waitMs
  }
}

interface UndeliveredOptions {
  readonly isRefused?: boolean
  readonly waitMs?: number | undefined
}
