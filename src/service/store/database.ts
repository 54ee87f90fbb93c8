import {
  type ColumnType,
  type Generated,
  Kysely,
  PostgresDialect,
  type RawBuilder,
  sql,
  type Transaction,
} from 'kysely'
import type { Pool } from 'pg'
import type { Configuration, PasswordStrength, Provider } from '../../contract/subscription.ts'
import type { Party } from '../events/event.ts'
import type { ServiceProvider } from '../saml/response.ts'

/** The schema that holds everything of the service, its migration tables included. */
export const SCHEMA = 'access_management'

/** Read as a value, written with `json`, because the driver would turn a list into a PostgreSQL array. */
type Json<Value> = ColumnType<Value, Written<Value>, Written<Value>>
type Written<Value> = RawBuilder<unknown> | (null extends Value ? null : never)

export interface Tables {
  organizations: {
    id: number
    name: string
    allowed_domains: string[]
    created_at: Date
    event_count: Generated<number>
  }
  contacts: {
    id: number
    organization_id: number
    name: string
    email: string
    status: Generated<string>
    created_at: Generated<Date>
    last_activity: Date | null
  }
  /** `hash` is the sha-256 of the token, in hexadecimal digits. */
  tokens: { hash: string; contact_id: number; scopes: string[]; expires_at: Date; created_at: Date }
  directories: {
    id: number
    organization_id: number
    name: string
    doppler: boolean
    target_type: string
    /** Every write of users or groups updates these counts, so that no list has to count. */
    user_count: Generated<number>
    group_count: Generated<number>
  }
  external_users: {
    id: Generated<number>
    directory_id: number
    external_id: string | null
    email: string | null
    name: string | null
    employee_id: string | null
  }
  external_groups: { id: Generated<number>; directory_id: number; external_id: string; name: string }
  /** `external_id` is the member's; no user of that id needs to exist. */
  group_members: { group_id: number; directory_id: number; external_id: string }
  /** `block` is the id of an entry divided by `BLOCK`; see `blocks.ts`. */
  entry_blocks: { directory_id: number; kind: 'user' | 'group'; block: number; entries: number }
  organization_groups: {
    id: number
    organization_id: number
    name: string
    folded_name: string
    created_at: Date
  }
  organization_group_contacts: { group_id: number; contact_id: number }
  organization_group_installations: { group_id: number; installation_id: number }
  /** One catalogue for all organizations. */
  providers: {
    id: number
    name: string
    slug: string
    login_method: string
    launch_timeout: number
    icons: Json<Provider['icons']>
    capabilities: Json<Provider['capabilities']>
  }
  installations: {
    id: number
    organization_id: number
    provider_id: number
    name: string
    slug: string
    status: string
    created_at: Date
    labels: Json<unknown[]>
    requires_mfa_code: boolean
    icons: Json<{ small: string; large: string } | null>
    configuration: Json<Configuration>
    /** The receiver of its SAML assertions; null without SAML. */
    service_provider: Json<ServiceProvider | null>
  }
  /** `credentials` is JSON of the values by name, sealed by the vault for `subscription:<id>` with the key `key_id`. */
  subscriptions: {
    id: number
    contact_id: number
    installation_id: number
    kind: 'app' | 'vault-item'
    name: string
    status: string
    created_at: Date
    favorite: boolean
    position: number
    last_login: Date | null
    launch_url: string
    requires_mfa_code: boolean
    login: string
    bookmarks: Json<unknown[]>
    password_strength: Json<PasswordStrength>
    can_view_password: boolean
    can_reset_password: boolean
    credentials: string
    key_id: string
  }
  /** For signing SAML assertions; the private key is PEM, sealed for `identity-provider:<organization>`. */
  identity_providers: {
    organization_id: number
    certificate: string
    private_key: string
    key_id: string
    created_at: Date
  }
  events: {
    id: Generated<number>
    organization_id: number
    created_at: Date
    type: string
    operation: string
    description: Json<Record<string, string>>
    actor: Json<Party>
    subject: Json<Party | null>
    actor_id: number
    /** The id of the subject, where it is a group of the organization. */
    subject_group_id: number | null
    ip: string | null
  }
}

export type Database = Kysely<Tables>
export type Trx = Transaction<Tables>

/** Queries over `pool`, which the caller ends. */
export function openDatabase(pool: Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }).withSchema(SCHEMA)
}

/** A value for a column of JSON. */
export function json(value: unknown): RawBuilder<unknown> {
  return sql`${JSON.stringify(value)}::jsonb`
}
