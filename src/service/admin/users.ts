import { DirsyncdError } from '../../errors.ts'
import { requireResource } from '../resources/write.ts'
import { writeDirectory } from '../store/directories.ts'
import { uncountEntry } from '../store/blocks.ts'
import type { AdminDeps } from './deps.ts'

/** A user of a directory without an external id: no endpoint of the API can read, change or remove it. */
export interface UserWithoutId {
  readonly id: number
  readonly directory: number
  readonly name: string | null
  readonly email: string | null
}

/** The users without an external id, ordered by id: all, or those of a directory, or those among `ids`. */
export async function listUsersWithoutId(
  { db }: AdminDeps,
  { directoryId, ids }: { readonly directoryId?: number | undefined; readonly ids?: readonly number[] },
): Promise<readonly UserWithoutId[]> {
  if (directoryId !== undefined) await requireResource(db, 'directory', directoryId)
  return db
    .selectFrom('external_users')
    .select(['id', 'directory_id as directory', 'name', 'email'])
    .where('external_id', 'is', null)
    .$if(directoryId !== undefined, (query) => query.where('directory_id', '=', directoryId!))
    .$if(ids !== undefined, (query) => query.where('id', 'in', ids!))
    .orderBy('id')
    .execute()
}

/** Removes all of them or, where one of the ids is of no such user, none. */
export async function removeUsersWithoutId(
  deps: AdminDeps,
  { ids }: { readonly ids: readonly number[] },
): Promise<readonly UserWithoutId[]> {
  const users = await listUsersWithoutId(deps, { ids })
  const unknown = ids.find((id) => !users.some((user) => user.id === id))
  if (unknown !== undefined) {
    throw new DirsyncdError(
      'id-unknown',
      `There is no user ${unknown} without an external id; dirsyncd service user list shows them. Nobody is removed.`,
    )
  }
  for (const [directoryId, ofDirectory] of Map.groupBy(users, ({ directory }) => directory)) {
    await removeFrom(deps, directoryId, ofDirectory)
  }
  return users
}

async function removeFrom(
  { db }: AdminDeps,
  directoryId: number,
  users: readonly UserWithoutId[],
): Promise<void> {
  const directory = await db
    .selectFrom('directories')
    .select('organization_id')
    .where('id', '=', directoryId)
    .executeTakeFirst()
  // Another command has removed it meanwhile, with its users.
  if (directory === undefined) return
  await writeDirectory(db, directory.organization_id, directoryId, async (trx) => {
    for (const { id } of users) {
      const { numDeletedRows } = await trx
        .deleteFrom('external_users')
        .where('id', '=', id)
        .executeTakeFirst()
      if (numDeletedRows > 0n) await uncountEntry(trx, directoryId, 'user', id)
    }
  })
}
