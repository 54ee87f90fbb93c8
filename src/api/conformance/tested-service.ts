import type { Dispatcher } from 'undici'

export interface TestedService {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly organizationId: number | string
  readonly directoryId: number | string
  readonly token: string
  readonly deviceId: string
  /** If false, only GET is sent. If true, entries are created and deleted, and a subscription changed and restored. */
  readonly writes: boolean
  /** #18 resets the password of this subscription for good. Default: #18 is not sent. */
  readonly resetSubscriptionId?: number | string
  /** A writable e-mail domain. Default: that of the directory's first user with an e-mail. */
  readonly emailDomain?: string
  /** Awaited before each request. */
  readonly limit?: (signal: AbortSignal) => Promise<void>
  /** Destroyed at the end. Default: trusts what Node trusts, without a proxy. */
  readonly dispatcher?: Dispatcher
  /** For one request, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
}
