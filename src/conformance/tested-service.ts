import type { Scope } from '../contract/endpoints.ts'

/** The names in the paths of the contract. */
export type Param = 'organization_id' | 'directory_id' | 'external_id' | 'subscription_id' | 'group_id'

/** A service to be compared with the API description, and what may be used for it. */
export interface TestedService {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly organizationId: number | string
  readonly directoryId: number | string
  readonly token: string
  readonly deviceId: string
  /** Without it nothing but GET is sent. With it, entries are made and removed, and a subscription is put back. */
  readonly writes: boolean
  /** #18 is tried on this subscription: its password is changed for good. Without it, never. */
  readonly resetSubscriptionId?: number | string
  /**
   * Nothing there is of value: cases are tried, too, that leave something behind for ever where the service takes what
   * it should refuse.
   */
  readonly expendable?: boolean
  /** Tokens that must be refused. */
  readonly tokens?: {
    readonly expired?: string
    /** By the scope that the token lacks. */
    readonly without?: Readonly<Partial<Record<Scope, string>>>
  }
  /** Ids that exist in another organization. */
  readonly foreign?: Readonly<Partial<Record<Param, string>>>
  /** A domain in which e-mail addresses may be written; default that of the directory's first user. */
  readonly emailDomain?: string
  /** Awaited before each request. */
  readonly limit?: (signal: AbortSignal) => Promise<void>
  /** Of one request, in milliseconds; default 30 s. */
  readonly timeoutMs?: number
}
