import { notFound } from '../problem.ts'
import { writeDirectory } from '../store/directories.ts'
import * as store from '../store/groups.ts'
import { checkEntries, checkFree, checkValues, externalIds } from './entries.ts'
import type { Answer, Call, HandlerDeps } from './handler.ts'

export async function listGroups(
  { db }: HandlerDeps,
  { organizationId, directoryId, page }: Call<'listGroups'>,
): Promise<Answer<'listGroups'>> {
  const groups = await store.listGroups(db, organizationId, directoryId, page)
  if (groups === undefined) throw notFound()
  return groups
}

export async function createGroups(
  { db, uniqueExternalIds }: HandlerDeps,
  { grant, organizationId, directoryId, form }: Call<'createGroups'>,
): Promise<Answer<'createGroups'>> {
  checkEntries('groups', form, grant.allowedDomains)
  return writeDirectory(db, organizationId, directoryId, async (trx) => {
    if (uniqueExternalIds) {
      checkFree('groups', form, await store.takenGroupIds(trx, directoryId, externalIds(form)))
    }
    return store.insertGroups(trx, directoryId, form.map(toNewGroup))
  })
}

export async function getGroup(
  { db }: HandlerDeps,
  { organizationId, directoryId, externalId }: Call<'getGroup'>,
): Promise<Answer<'getGroup'>> {
  const group = await store.findGroup(db, organizationId, directoryId, externalId)
  if (group === undefined) throw notFound()
  return group
}

export async function deleteGroup(
  { db }: HandlerDeps,
  { organizationId, directoryId, externalId }: Call<'deleteGroup'>,
): Promise<Answer<'deleteGroup'>> {
  const found = await writeDirectory(db, organizationId, directoryId, (trx) => {
    return store.deleteGroup(trx, directoryId, externalId)
  })
  if (!found) throw notFound()
  return undefined
}

export async function updateGroup(
  { db }: HandlerDeps,
  { grant, organizationId, directoryId, externalId, form }: Call<'updateGroup'>,
): Promise<Answer<'updateGroup'>> {
  checkValues(form, grant.allowedDomains)
  const group = await writeDirectory(db, organizationId, directoryId, (trx) => {
    return store.updateGroup(trx, directoryId, externalId, {
      name: form.name,
      members: form.external_member_ids,
    })
  })
  if (group === undefined) throw notFound()
  return group
}

function toNewGroup(form: Call<'createGroups'>['form'][number]): store.NewGroup {
  return { external_id: form.external_id, name: form.name, members: form.external_member_ids ?? [] }
}
