import { type RawBuilder, sql } from 'kysely'

/** Whether a row's `entry_id` is one of these; of no matter which entry where `ids` is left out. */
export function isOfEntries(ids: readonly string[] | undefined): RawBuilder<boolean> {
  return ids === undefined ? sql<boolean>`true` : sql<boolean>`entry_id = ANY(${ids}::text[])`
}

/**
 * The rows of the journal, as a table: those of these entries, or all where `ids` is left out. No index finds an entry,
 * as it would cost each write; so one look at each row has to be all, before anything else is asked of it. After a
 * company was created, the journal has a row for each of its people.
 */
export function journalRows(ids: readonly string[] | undefined): RawBuilder<unknown> {
  if (ids === undefined) return sql`dirsyncd.journal`
  // OFFSET keeps PostgreSQL from asking the other questions first, or from walking through all rows in their order.
  return sql`(SELECT * FROM dirsyncd.journal WHERE ${isOfEntries(ids)} OFFSET 0)`
}
