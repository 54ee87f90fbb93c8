import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** The device id that every request carries: made once, kept in the store, the same in every process. */
export async function deviceId(db: Kysely<Tables>): Promise<string> {
  const name = 'device-id'
  await db
    .insertInto('dirsyncd.settings')
    .values({ name, value: `dirsyncd-${randomUUID()}` })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await db
    .selectFrom('dirsyncd.settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return row.value
}
