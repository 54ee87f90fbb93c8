/** What a person is told of. */
export const EVENTS = ['held', 'failing', 'recovered', 'withheld', 'quarantine', 'token', 'decided'] as const

export type NotificationEvent = (typeof EVENTS)[number]

/** What a person is told once, in plain sentences that name nobody but who decided. */
export interface Notification {
  readonly event: NotificationEvent | 'test'
  readonly sync: string | null
  readonly run: number | null
  /** One line. */
  readonly subject: string
  /** Lines; the last says which command answers. */
  readonly text: string
}

/** A notification as it is delivered: the same to every channel and at every attempt. */
export interface Delivered extends Notification {
  /** The same at every attempt, and of no other notification of any installation. */
  readonly id: string
  readonly createdAt: Date
}
