import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Who runs a sync. A free lease keeps its row, so that an epoch is never used twice. */
export const leases: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`
      CREATE TABLE dirsyncd.leases (
        sync text PRIMARY KEY,
        epoch bigint NOT NULL,
        owner text,
        renewed_at timestamptz
      )`.execute(db)
  },
}
