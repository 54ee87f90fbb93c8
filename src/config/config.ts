import type { StoreConfig } from '../base/database/store-config.ts'
import type { LogLevel } from '../base/log/log.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { EmailOptions } from '../ui/notify/channels/email.ts'
import type { SlackOptions } from '../ui/notify/channels/slack.ts'
import type { WebhookOptions } from '../ui/notify/channels/webhook.ts'
import type { NotificationEvent } from '../ui/notify/notification.ts'
import type { Emails } from '../core/plan/emails.ts'
import type { Grace } from '../core/plan/grace.ts'
import type { GuardLimits } from '../core/plan/guards.ts'
import type { Membership, Policy } from '../core/plan/policy.ts'
import type { EntryRules } from '../core/plan/selection.ts'
import type { CommandSourceOptions } from '../source/command/options.ts'
import type { CsvSourceOptions } from '../source/csv/options.ts'
import type { LdapSourceOptions } from '../source/ldap/options.ts'
import type { SecretReader } from '../base/secrets/secret.ts'
import type { Address } from '../base/yaml/values.ts'
import type { Schedule } from './schedule.ts'

export type { Address }

/** Where the jobs are. The URL of Redis holds no password. */
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
  /** Lower-case; `undefined` allows every domain. */
  readonly allowedDomains: readonly string[] | undefined
  readonly dropBadEmails: boolean
  readonly readConcurrency: number
  readonly writeConcurrency: number
  /** The most entries that one request creates. */
  readonly createBatch: number
  readonly rateLimit: { readonly requests: number; readonly perMs: number } | undefined
  /** The PEM text; `undefined`: the CAs of Node and of this machine. */
  readonly ca: string | undefined
  readonly proxy: string | undefined
  readonly membership: Membership
  readonly emails: Emails
}

export interface SyncConfig {
  readonly name: string
  /** `undefined`: only on demand. */
  readonly schedule: Schedule | undefined
  readonly source: SourceConfig
  readonly directory: DirectoryConfig
  /** `undefined`: nothing is left out. */
  readonly entries: EntryRules | undefined
  readonly policy: Policy
  readonly guards: GuardLimits
  /** For how long a person may decide about what the guards hold, in milliseconds. */
  readonly holdMs: number
  readonly grace: Grace
  /** Every option as the file says it, by its key, and the certificates in its CA files: equal only where nothing of the sync was changed. */
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

/** Who may see what the TCP listener shows. */
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
  /** The file that it was read from, absolute. */
  readonly file: string
  readonly dataDir: string
  readonly store: StoreConfig
  readonly queue: QueueConfig
  /** `listen` is `undefined` where the TCP listener is off; the socket in `dataDir` always exists. */
  readonly admin: { readonly listen: Address | undefined } & AccessConfig
  /** What a `dirsyncd worker` shows; who may see it, `admin` says. */
  readonly worker: { readonly listen: Address | undefined }
  readonly log: {
    readonly level: LogLevel
    /** Whether a long-running process may log what names a person besides ids. */
    readonly people: boolean
  }
  readonly notifications: {
    /** How many runs in a row must fail before somebody is told. */
    readonly failuresInRow: number
    readonly channels: readonly ChannelConfig[]
  }
  /** How long runs with their plans and journals are kept, and how many rows of them. */
  readonly retention: { readonly timeMs: number; readonly rows: number }
  readonly syncs: readonly SyncConfig[]
  /** Every option outside of the syncs as the file says it, by its key. */
  readonly written: Options
}
