export const EVENTS = ['asking', 'failing', 'recovered', 'blocked', 'quarantine', 'token', 'decided'] as const

export type NotificationEvent = (typeof EVENTS)[number]

/** Plain sentences that name only the operator who decided. */
export interface Notification {
  readonly event: NotificationEvent | 'test'
  readonly sync: string | null
  readonly run: number | null
  readonly subject: string
  /** Lines; the last one has the command that answers. */
  readonly text: string
}

/** The same to every channel and at every attempt. */
export interface Delivered extends Notification {
  /** Unique across installations, and the same at every attempt. */
  readonly id: string
  readonly createdAt: Date
}
