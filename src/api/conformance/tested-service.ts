import type { Dispatcher } from 'undici'
import type { Scope } from '../contract/endpoints.ts'

export type Param = 'organization_id' | 'directory_id' | 'external_id' | 'subscription_id' | 'group_id'

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
  /**
   * The service holds nothing of value. Then the check also runs cases that leave an entry for ever if the service
   * accepts what it should refuse.
   */
  readonly expendable?: boolean
  /** Tokens that must be refused. */
  readonly tokens?: {
    readonly expired?: string
    /** By the scope that the token lacks. */
    readonly without?: Readonly<Partial<Record<Scope, string>>>
  }
  readonly foreign?: Readonly<Partial<Record<Param, string>>>
  /** A writable e-mail domain. Default: that of the directory's first user with an e-mail. */
  readonly emailDomain?: string
  /** Awaited before each request. */
  readonly limit?: (signal: AbortSignal) => Promise<void>
  /** Destroyed at the end. Default: trusts what Node trusts, without a proxy. */
  readonly dispatcher?: Dispatcher
  /** For one request, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
}
