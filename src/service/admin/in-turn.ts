import type { Trx } from '../store/database.ts'
import { lockResources } from '../store/resources.ts'
import type { AdminDeps } from './deps.ts'

export async function inTurn<Result>(
  { db }: Pick<AdminDeps, 'db'>,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (trx) => {
    await lockResources(trx)
    return work(trx)
  })
}
