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
import type { OrganizationGroup } from '../../api/contract/resources.ts'
import type { Installation, Provider, Subscription } from '../../api/contract/subscription.ts'
import type { Party } from '../events/event.ts'
import type { ServiceProvider } from '../saml/response.ts'

/** The schema that holds everything of the service, its migration tables included. */
export const SCHEMA = 'access_management'

/** Read as a value, written with `json`, because the driver would turn a list into a PostgreSQL array. */
type Json<Value> = ColumnType<Value, Written<Value>, Written<Value>>
type Written<Value> = RawBuilder<unknown> | (null extends Value ? null : never)

/** A resource of the API as a row, without the fields `Other`: times are dates, lists and objects are JSON. */
type Stored<Resource, Other = never> = {
  [Field in keyof Resource as string extends Field ? never : Exclude<Field, Other>]: StoredField<
    Field,
    Resource[Field]
  >
}

type StoredField<Field, Value> = Field extends 'created_at'
  ? Date
  : Field extends 'last_login'
    ? Date | null
    : Value extends object
      ? Json<Value>
      : Value

export interface Tables {
  organizations: {
    id: number
    name: string
    allowed_domains: string[]
    /** Names the identity provider of its SAML assertions. */
    entity_id: string
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
  /** The counts of its members are those of the two tables below. */
  organization_groups: Stored<OrganizationGroup, 'contacts_count' | 'installations_count'> & {
    organization_id: number
    folded_name: string
  }
  organization_group_contacts: { group_id: number; contact_id: number }
  organization_group_installations: { group_id: number; installation_id: number }
  /** One catalogue for all organizations. */
  providers: Stored<Provider>
  installations: Stored<Installation, 'provider' | 'icons'> & {
    organization_id: number
    provider_id: number
    icons: Json<Required<Installation>['icons'] | null>
    /** The receiver of its SAML assertions; null without SAML. */
    service_provider: Json<ServiceProvider | null>
  }
  /** `credentials` is JSON of the values by name, sealed by the vault for `subscription:<id>` with the key `key_id`. */
  subscriptions: Stored<Subscription, 'installation'> & {
    contact_id: number
    installation_id: number
    kind: 'app' | 'vault-item'
    credentials: string
    key_id: string
  }
  /** For signing SAML assertions; the private key is PEM, sealed for `identity-provider:<id>`. */
  signing_keys: {
    id: Generated<number>
    organization_id: number
    /** Signs; the others are in the metadata only. */
    current: boolean
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
