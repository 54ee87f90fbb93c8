import type { Selectable } from 'kysely'
import type { Page, PageRequest } from '../http/paging.ts'
import { startOfPage, uncountEntry } from './blocks.ts'
import type { Database, Tables, Trx } from './database.ts'

export type UserRow = Pick<Selectable<Tables['external_users']>, 'id' | 'external_id' | 'email' | 'name'>

export interface NewUser {
  readonly external_id: string | null
  readonly email: string | null
  readonly name: string | null
  readonly employee_id: string | null
}

const COLUMNS = ['id', 'external_id', 'email', 'name'] as const

/** The state before and after an update; `fields` are those that it changed. */
export interface UserUpdate {
  readonly before: UserRow
  readonly after: UserRow
  readonly fields: readonly ('name' | 'email')[]
}

/** A page by id, and the total from the same snapshot; `undefined` where the organization has no such directory. */
export async function listUsers(
  db: Database,
  organizationId: number,
  directoryId: number,
  page: PageRequest,
): Promise<Page<UserRow> | undefined> {
  const rows = await db
    .selectFrom('directories as d')
    .leftJoinLateral(startOfPage('user', page).as('start'), (join) => join.onTrue())
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('external_users')
          .select(COLUMNS)
          .whereRef('external_users.directory_id', '=', 'd.id')
          .whereRef('external_users.id', '>=', 'start.first_id')
          .orderBy('id')
          .limit(page.perPage)
          .offset(eb.ref('start.skip').$notNull())
          .as('u'),
      (join) => join.onTrue(),
    )
    .select(['d.user_count as total', 'u.id', 'u.external_id', 'u.email', 'u.name'])
    .where('d.id', '=', directoryId)
    .where('d.organization_id', '=', organizationId)
    .orderBy('u.id')
    .execute()
  const [first] = rows
  if (first === undefined) return undefined
  const items = rows.flatMap(({ id, external_id, email, name }) => {
    return id === null ? [] : [{ id, external_id, email, name }]
  })
  return { items, total: first.total }
}

/** The oldest user with that external id. */
export async function findUser(
  db: Database,
  organizationId: number,
  directoryId: number,
  externalId: string,
): Promise<UserRow | undefined> {
  return db
    .selectFrom('external_users as u')
    .innerJoin('directories as d', 'd.id', 'u.directory_id')
    .select(['u.id', 'u.external_id', 'u.email', 'u.name'])
    .where('d.id', '=', directoryId)
    .where('d.organization_id', '=', organizationId)
    .where('u.external_id', '=', externalId)
    .orderBy('u.id')
    .limit(1)
    .executeTakeFirst()
}

/** Updates the oldest user with that external id; an `undefined` value stays as it is. */
export async function updateUser(
  trx: Trx,
  directoryId: number,
  externalId: string,
  values: { readonly email?: string | undefined; readonly name?: string | undefined },
): Promise<UserUpdate | undefined> {
  const before = await oldestUser(trx, directoryId, externalId)
  if (before === undefined) return undefined
  const fields = (['name', 'email'] as const).filter((field) => {
    return values[field] !== undefined && values[field] !== before[field]
  })
  if (fields.length === 0) return { before, after: before, fields }
  const after = await trx
    .updateTable('external_users')
    .set(values)
    .where('id', '=', before.id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return { before, after, fields }
}

/**
 * Deletes and returns the oldest user with that external id. Removes the id from all groups, unless another user still
 * has it.
 */
export async function deleteUser(
  trx: Trx,
  directoryId: number,
  externalId: string,
): Promise<UserRow | undefined> {
  const user = await oldestUser(trx, directoryId, externalId)
  if (user === undefined) return undefined
  await trx.deleteFrom('external_users').where('id', '=', user.id).execute()
  await uncountEntry(trx, directoryId, 'user', user.id)
  if ((await oldestUser(trx, directoryId, externalId)) !== undefined) return user
  await trx
    .deleteFrom('group_members')
    .where('directory_id', '=', directoryId)
    .where('external_id', '=', externalId)
    .execute()
  return user
}

async function oldestUser(trx: Trx, directoryId: number, externalId: string): Promise<UserRow | undefined> {
  return trx
    .selectFrom('external_users')
    .select(COLUMNS)
    .where('directory_id', '=', directoryId)
    .where('external_id', '=', externalId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}
