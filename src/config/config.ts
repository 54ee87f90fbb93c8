import type { StoreConfig } from '../base/database/store-config.ts'
import type { LogLevel } from '../base/log/log.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { EmailOptions } from '../ui/notify/channels/email.ts'
import type { SlackOptions } from '../ui/notify/channels/slack.ts'
import type { WebhookOptions } from '../ui/notify/channels/webhook.ts'
import type { NotificationEvent } from '../ui/notify/notification.ts'
import type { Grace, GuardLimits } from '../core/checks/check.ts'
import type { DiffRules, Membership } from '../core/diff/rules.ts'
import type { EntryRules } from '../core/plan/selection.ts'
import type { CommandSourceOptions } from '../source/command/options.ts'
import type { CsvSourceOptions } from '../source/csv/options.ts'
import type { LdapSourceOptions } from '../source/ldap/options.ts'
import type { SecretReader } from '../base/secrets/secret.ts'
import type { Address } from '../base/yaml/values.ts'
import type { Schedule } from './schedule.ts'

export type { Address }

/** The URL of Redis holds no password. */
export type QueueConfig =
  | { readonly kind: 'store' }
  | { readonly kind: 'redis'; readonly url: string; readonly password: SecretReader | undefined }

export type SourceConfig =
  | { readonly type: 'ldap'; readonly options: LdapSourceOptions }
  | { readonly type: 'csv'; readonly options: CsvSourceOptions }
  | { readonly type: 'command'; readonly options: CommandSourceOptions }

export interface DirectoryConfig {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly organizationId: number
  readonly directoryId: number
  readonly token: SecretReader
  /** Lower case; `undefined` allows every domain. */
  readonly allowedDomains: readonly string[] | undefined
  readonly dropBadEmails: boolean
  readonly readConcurrency: number
  readonly writeConcurrency: number
  readonly createBatch: number
  readonly rateLimit: { readonly requests: number; readonly perMs: number } | undefined
  /** The PEM text; `undefined`: the CAs of Node and of this machine. */
  readonly ca: string | undefined
  readonly proxy: string | undefined
  readonly membership: Membership
  readonly emails: 'unique' | 'shared'
}

export interface SyncConfig {
  readonly name: string
  /** `undefined`: only on demand. */
  readonly schedule: Schedule | undefined
  readonly source: SourceConfig
  readonly directory: DirectoryConfig
  readonly entries: EntryRules | undefined
  readonly policy: DiffRules['policy']
  readonly guards: GuardLimits
  /** How long a held plan can be approved, in milliseconds. */
  readonly approvalsExpireAfterMs: number
  readonly grace: Grace
  /** Options as written, by key, and the CA files' certificates: equal only where the sync did not change. */
  readonly written: Options
}

export type ChannelConfig = {
  readonly name: string
  readonly events: readonly NotificationEvent[]
} & (
  | ({ readonly type: 'webhook' } & WebhookOptions)
  | ({ readonly type: 'slack' } & SlackOptions)
  | ({ readonly type: 'email' } & EmailOptions)
)

export interface AccessConfig {
  /** Lower case. */
  readonly hosts: readonly string[]
  readonly token: SecretReader | undefined
  readonly proxy:
    | {
        readonly header: string
        readonly networks: readonly string[]
        readonly secret: SecretReader | undefined
      }
    | undefined
}

/** The whole configuration, checked, resolved and frozen. Paths are absolute, durations are milliseconds. */
export interface Config {
  /** Absolute. */
  readonly file: string
  readonly dataDir: string
  readonly store: StoreConfig
  readonly queue: QueueConfig
  /** `listen` is `undefined` where the TCP listener is off; the socket in `dataDir` always exists. */
  readonly admin: { readonly listen: Address | undefined } & AccessConfig
  /** The listener of `dirsyncd worker`; `admin` has its access rules. */
  readonly worker: { readonly listen: Address | undefined }
  readonly log: {
    readonly level: LogLevel
    /** Whether a long-running process may log personal data besides ids. */
    readonly people: boolean
  }
  readonly notifications: {
    readonly failuresInRow: number
    readonly channels: readonly ChannelConfig[]
  }
  /** How long runs with their plans and journals are kept, and how many rows of them. */
  readonly retention: { readonly timeMs: number; readonly rows: number }
  readonly syncs: readonly SyncConfig[]
  /** Every option outside of the syncs as written, by key. */
  readonly written: Options
}
