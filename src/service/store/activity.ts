import type { Database } from './database.ts'

/** Sets the last activity of the contact to `at`, unless the store already has one after `before`. */
export async function writeActivity(db: Database, contactId: number, at: Date, before: Date): Promise<void> {
  await db
    .updateTable('contacts')
    .set({ last_activity: at })
    .where('id', '=', contactId)
    .where((eb) => eb.or([eb('last_activity', 'is', null), eb('last_activity', '<=', before)]))
    .execute()
}
