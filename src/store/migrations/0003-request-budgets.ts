import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** When the next request may be sent, in milliseconds of the server's clock, for each API origin and token. */
export const requestBudgets: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`
      CREATE TABLE dirsyncd.request_budgets (
        key text PRIMARY KEY,
        next_at double precision NOT NULL
      ) WITH (fillfactor = 10)`.execute(db)
  },
}
