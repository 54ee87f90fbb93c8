import type { RefusedLogins } from '../source/ldap/connection/logins.ts'
import type { Db } from '../store/tables.ts'

/** Remembers refused logins of sources beyond the end of the process. */
export function refusedLogins(db: Db): RefusedLogins {
  return {
    find: (readers) =>
      db.selectFrom('dirsyncd.refused_logins').selectAll().where('reader', 'in', readers).execute(),
    async keep(refused) {
      await db
        .insertInto('dirsyncd.refused_logins')
        .values(refused)
        .onConflict((conflict) => conflict.column('reader').doUpdateSet(refused))
        .execute()
    },
    async forget(readers) {
      await db.deleteFrom('dirsyncd.refused_logins').where('reader', 'in', readers).execute()
    },
  }
}
