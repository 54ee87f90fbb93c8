import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** The device id that every request carries: made once, kept in the store, the same in every process. */
export async function deviceId(db: Kysely<Tables>): Promise<string> {
  await db
    .insertInto('dirsyncd.settings')
    .values({ name: 'device-id', value: `dirsyncd-${randomUUID()}` })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await db
    .selectFrom('dirsyncd.settings')
    .select('value')
    .where('name', '=', 'device-id')
    .executeTakeFirstOrThrow()
  return row.value
}
