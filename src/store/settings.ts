import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** The device id that every request carries: made once, kept in the store, the same in every process. */
export function deviceId(db: Kysely<Tables>): Promise<string> {
  return setting(db, 'device-id', `dirsyncd-${randomUUID()}`)
}

/** The value that the store has, or else `first`, which it then keeps. */
export async function setting(db: Kysely<Tables>, name: string, first: string): Promise<string> {
  await db
    .insertInto('dirsyncd.settings')
    .values({ name, value: first })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await db
    .selectFrom('dirsyncd.settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return row.value
}
