import type { Directory } from '../../api/contract/resources.ts'
import { offsetOf, type Page, type PageRequest } from '../http/paging.ts'
import { notFound } from '../http/problem.ts'
import type { Database, Trx } from './database.ts'

const COLUMNS = ['id', 'name', 'doppler', 'target_type'] as const

/** Counts on every call, because an organization has only a few directories. */
export async function listDirectories(
  db: Database,
  organizationId: number,
  page: PageRequest,
): Promise<Page<Directory>> {
  const directories = db.selectFrom('directories').where('organization_id', '=', organizationId)
  const items = await directories
    .select(COLUMNS)
    .orderBy('id')
    .limit(page.perPage)
    .offset(offsetOf(page))
    .execute()
  const { total } = await directories
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow()
  return { items, total: Number(total) }
}

export async function findDirectory(
  db: Database,
  organizationId: number,
  id: number,
): Promise<Directory | undefined> {
  return db
    .selectFrom('directories')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

export type LockedDirectory = Pick<Directory, 'id' | 'name'>

/**
 * Runs `work` in a transaction that locks the directory's row, so that the writers of one directory take turns. Only
 * this lock keeps external ids unique without an index, keeps the counters right, and makes ids visible in ascending
 * order, so that a list grows only at its end while a client reads its pages. Throws a `Problem` (not-found) where the
 * organization has no such directory.
 */
export async function writeDirectory<Result>(
  db: Database,
  organizationId: number,
  directoryId: number,
  work: (trx: Trx, directory: LockedDirectory) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (trx) => {
    const directory = await trx
      .selectFrom('directories')
      .select(['id', 'name'])
      .where('id', '=', directoryId)
      .where('organization_id', '=', organizationId)
      .forUpdate()
      .executeTakeFirst()
    if (directory === undefined) throw notFound()
    return work(trx, directory)
  })
}
