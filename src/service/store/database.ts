import { type Generated, Kysely, PostgresDialect, type Transaction } from 'kysely'
import type { Pool } from 'pg'

/** The schema that holds everything of the service, its migration tables included. */
export const SCHEMA = 'access_management'

export interface Tables {
  organizations: { id: number; name: string; allowed_domains: string[]; created_at: Date }
  contacts: { id: number; organization_id: number; name: string; email: string }
  /** `hash` is the sha-256 of the token, in hexadecimal digits. */
  tokens: { hash: string; contact_id: number; scopes: string[]; expires_at: Date; created_at: Date }
  directories: {
    id: number
    organization_id: number
    name: string
    doppler: boolean
    target_type: string
    /** How many users and groups there are, kept by whoever writes them, so that no list has to count. */
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
}

export type Database = Kysely<Tables>
export type Trx = Transaction<Tables>

/** Queries over a pool that belongs to the caller, who ends it. */
export function openDatabase(pool: Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }).withSchema(SCHEMA)
}
