import type { Delivered } from './notification.ts'

/** Where notifications are delivered. */
export interface Channel extends AsyncDisposable {
  /** Rejects with an `Undelivered` or any other error where it is not known to be delivered. */
  send(notification: Delivered, signal: AbortSignal): Promise<void>
}

/** A notification was not delivered. Without a cause, whose text may repeat a secret. */
export class Undelivered extends Error {
  override readonly name = 'Undelivered'
  /** The receiver does not want it, and will not want it later: such as an address that does not exist. */
  readonly isRefused: boolean
  /** How long the receiver asks to wait. */
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
