import { sql } from 'kysely'
import { DirsyncdError } from '../../errors.ts'
import { type Database, SCHEMA, type Trx } from '../store/database.ts'

/** The tables whose ids a fixture may choose, so that no database sequence can. */
type Table = 'organizations' | 'contacts' | 'directories'

/** Runs `work` with the next free id of the table, which is locked against other inserts. */
export async function withNewId<Result>(
  db: Database,
  table: Table,
  work: (trx: Trx, id: number) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (trx) => {
    const name = sql.id(SCHEMA, table)
    await sql`lock table ${name} in share row exclusive mode`.execute(trx)
    const { rows } = await sql<{ id: number }>`select coalesce(max(id), 0) + 1 as id from ${name}`.execute(
      trx,
    )
    return work(trx, rows[0]!.id)
  })
}

/** Throws `id-unknown`. */
export async function requireOrganization(trx: Trx, id: number): Promise<void> {
  const found = await trx.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()
  if (found === undefined) throw unknownId('organization', id, 'dirsyncd service organization list')
}

export function unknownId(what: string, id: number | string, list: string): DirsyncdError {
  return new DirsyncdError('id-unknown', `There is no ${what} ${id}; ${list} shows those that exist.`)
}
