import type { ExternalUser } from '../../api/contract/resources.ts'
import { type EntryContext, entryChanges, entryEvent, type Origin } from '../events/event.ts'
import { notFound } from '../http/problem.ts'
import { createEntries } from '../store/create-entries.ts'
import { type LockedDirectory, writeDirectory } from '../store/directories.ts'
import { recordEvents } from '../store/events.ts'
import * as store from '../store/users.ts'
import { splitPersonName } from '../values.ts'
import { checkEntries, checkValues, idsTaken } from './entries.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'

export async function listUsers(
  { db }: HandlerDeps,
  { organizationId, directoryId, page }: Call<'listUsers'>,
): Promise<ResponseOf<'listUsers'>> {
  const users = await store.listUsers(db, organizationId, directoryId, page)
  if (users === undefined) throw notFound()
  return { items: users.items.map(toUser), total: users.total }
}

export async function createUsers(
  { pool, uniqueExternalIds: uniqueIds }: HandlerDeps,
  { grant, origin, directoryId, form }: Call<'createUsers'>,
): Promise<ResponseOf<'createUsers'>> {
  checkEntries('users', form, grant.allowedDomains)
  const entries = form.map(toNewUser)
  const created = await createEntries(pool, origin, directoryId, { kind: 'user', entries }, { uniqueIds })
  if (created === undefined) throw notFound()
  if ('taken' in created) throw idsTaken('users', form, created.taken)
  return entries.map((entry, index) => toUser({ ...entry, id: created.ids[index]! }))
}

export async function getUser(
  { db }: HandlerDeps,
  { organizationId, directoryId, externalId }: Call<'getUser'>,
): Promise<ResponseOf<'getUser'>> {
  const user = await store.findUser(db, organizationId, directoryId, externalId)
  if (user === undefined) throw notFound()
  return toUser(user)
}

export async function updateUser(
  { db }: HandlerDeps,
  { grant, origin, organizationId, directoryId, externalId, form }: Call<'updateUser'>,
): Promise<ResponseOf<'updateUser'>> {
  checkValues(form, grant.allowedDomains)
  return writeDirectory(db, organizationId, directoryId, async (trx, directory) => {
    const update = await store.updateUser(trx, directoryId, externalId, form)
    if (update === undefined) throw notFound()
    const { before, after, fields } = update
    const context = contextOf(origin, directory)
    const changes = entryChanges(fields, before.name)
    if (fields.length > 0) await recordEvents(trx, origin, [entryEvent(context, 'update', after, changes)])
    return toUser(after)
  })
}

export async function deleteUser(
  { db }: HandlerDeps,
  { origin, organizationId, directoryId, externalId }: Call<'deleteUser'>,
): Promise<ResponseOf<'deleteUser'>> {
  return writeDirectory(db, organizationId, directoryId, async (trx, directory) => {
    const user = await store.deleteUser(trx, directoryId, externalId)
    if (user === undefined) throw notFound()
    await recordEvents(trx, origin, [entryEvent(contextOf(origin, directory), 'delete', user)])
    return undefined
  })
}

function contextOf({ actor }: Origin, directory: LockedDirectory): EntryContext {
  return { actor, kind: 'user', directory }
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
