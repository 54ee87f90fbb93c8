import type { Database } from './database.ts'

/** Says that the contact was active at that time, unless the store has it active after `before` already. */
export async function writeActivity(db: Database, contactId: number, at: Date, before: Date): Promise<void> {
  await db
    .updateTable('contacts')
    .set({ last_activity: at })
    .where('id', '=', contactId)
    .where((eb) => eb.or([eb('last_activity', 'is', null), eb('last_activity', '<=', before)]))
    .execute()
}
