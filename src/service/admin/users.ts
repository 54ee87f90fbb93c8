import { DirsyncdError } from '../../base/errors.ts'
import { requireResource } from '../resources/write.ts'
import { uncountEntry } from '../store/blocks.ts'
import type { Database } from '../store/database.ts'
import type { AdminDeps } from './deps.ts'
import { inTurn } from './in-turn.ts'

/** No endpoint of the API can read, change or remove a user without an external id. */
export interface UserWithoutId {
  readonly id: number
  readonly directory: number
  readonly name: string | null
  readonly email: string | null
}

export async function listUsersWithoutId(
  { db }: AdminDeps,
  { directoryId }: { readonly directoryId?: number | undefined },
): Promise<readonly UserWithoutId[]> {
  if (directoryId === undefined) return selectUsers(db).execute()
  await requireResource(db, 'directory', directoryId)
  return selectUsers(db).where('directory_id', '=', directoryId).execute()
}

/** Removes all of them or, where an id is of no such user, none. */
export async function removeUsersWithoutId(
  deps: AdminDeps,
  { ids }: { readonly ids: readonly number[] },
): Promise<readonly UserWithoutId[]> {
  return inTurn(deps, async (trx) => {
    const users = await selectUsers(trx).where('id', 'in', ids).execute()
    const unknown = ids.find((id) => !users.some((user) => user.id === id))
    if (unknown !== undefined) {
      throw new DirsyncdError(
        'id-unknown',
        `There is no user ${unknown} without an external id; access-service user list shows them. Nobody is removed.`,
      )
    }
    for (const [directoryId, ofDirectory] of Map.groupBy(users, ({ directory }) => directory)) {
      // As `writeDirectory` does for the API.
      await trx.selectFrom('directories').select('id').where('id', '=', directoryId).forUpdate().execute()
      for (const { id } of ofDirectory) {
        await trx.deleteFrom('external_users').where('id', '=', id).execute()
        await uncountEntry(trx, directoryId, 'user', id)
      }
    }
    return users
  })
}

function selectUsers(db: Database) {
  return db
    .selectFrom('external_users')
    .select(['id', 'directory_id as directory', 'name', 'email'])
    .where('external_id', 'is', null)
    .orderBy('id')
}
