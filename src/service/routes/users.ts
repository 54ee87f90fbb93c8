import type { ExternalUser } from '../../contract/resources.ts'
import { notFound } from '../problem.ts'
import { writeDirectory } from '../store/directories.ts'
import * as store from '../store/users.ts'
import { splitPersonName } from '../values.ts'
import { checkEntries, checkFree, checkValues, externalIds } from './entries.ts'
import type { Answer, Call, HandlerDeps } from './handler.ts'

export async function listUsers(
  { db }: HandlerDeps,
  { organizationId, directoryId, page }: Call<'listUsers'>,
): Promise<Answer<'listUsers'>> {
  const users = await store.listUsers(db, organizationId, directoryId, page)
  if (users === undefined) throw notFound()
  return { items: users.items.map(toUser), total: users.total }
}

export async function createUsers(
  { db, uniqueExternalIds }: HandlerDeps,
  { grant, organizationId, directoryId, form }: Call<'createUsers'>,
): Promise<Answer<'createUsers'>> {
  checkEntries('users', form, grant.allowedDomains)
  const created = await writeDirectory(db, organizationId, directoryId, async (trx) => {
    if (uniqueExternalIds) {
      checkFree('users', form, await store.takenUserIds(trx, directoryId, externalIds(form)))
    }
    return store.insertUsers(trx, directoryId, form.map(toNewUser))
  })
  return created.map(toUser)
}

export async function getUser(
  { db }: HandlerDeps,
  { organizationId, directoryId, externalId }: Call<'getUser'>,
): Promise<Answer<'getUser'>> {
  const user = await store.findUser(db, organizationId, directoryId, externalId)
  if (user === undefined) throw notFound()
  return toUser(user)
}

export async function updateUser(
  { db }: HandlerDeps,
  { grant, organizationId, directoryId, externalId, form }: Call<'updateUser'>,
): Promise<Answer<'updateUser'>> {
  checkValues(form, grant.allowedDomains)
  const user = await writeDirectory(db, organizationId, directoryId, (trx) => {
    return store.updateUser(trx, directoryId, externalId, form)
  })
  if (user === undefined) throw notFound()
  return toUser(user)
}

export async function deleteUser(
  { db }: HandlerDeps,
  { organizationId, directoryId, externalId }: Call<'deleteUser'>,
): Promise<Answer<'deleteUser'>> {
  const found = await writeDirectory(db, organizationId, directoryId, (trx) => {
    return store.deleteUser(trx, directoryId, externalId)
  })
  if (!found) throw notFound()
  return undefined
}

function toNewUser(form: Call<'createUsers'>['form'][number]): store.NewUser {
  return {
    external_id: form.external_id ?? null,
    email: form.email ?? null,
    name: form.name ?? null,
    employee_id: form.employee_id ?? null,
  }
}

function toUser({ id, external_id, name, email }: store.UserRow): ExternalUser {
  const { first, last } = splitPersonName(name)
  return { id, external_id, name, first_name: first, last_name: last, email }
}
