import type { ExternalGroup } from '../../api/contract/resources.ts'
import { type EntryContext, entryChanges, entryEvent, type Origin } from '../events/event.ts'
import { notFound } from '../http/problem.ts'
import { createEntries } from '../store/create-entries.ts'
import { type LockedDirectory, writeDirectory } from '../store/directories.ts'
import { recordEvents } from '../store/events.ts'
import * as store from '../store/groups.ts'
import { checkEntries, checkValues, idsTaken } from './entries.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'

export async function listGroups(
  { db }: HandlerDeps,
  { organizationId, directoryId, page }: Call<'listGroups'>,
): Promise<ResponseOf<'listGroups'>> {
  const groups = await store.listGroups(db, organizationId, directoryId, page)
  if (groups === undefined) throw notFound()
  return groups
}

export async function createGroups(
  { pool, uniqueExternalIds: uniqueIds }: HandlerDeps,
  { grant, origin, directoryId, form }: Call<'createGroups'>,
): Promise<ResponseOf<'createGroups'>> {
  checkEntries('groups', form, grant.allowedDomains)
  const entries = form.map(toNewGroup)
  const created = await createEntries(pool, origin, directoryId, { kind: 'group', entries }, { uniqueIds })
  if (created === undefined) throw notFound()
  if ('taken' in created) throw idsTaken('groups', form, created.taken)
  return entries.map(({ external_id, name, members }) => ({
    external_id,
    name,
    external_member_ids: members.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  }))
}

export async function getGroup(
  { db }: HandlerDeps,
  { organizationId, directoryId, externalId }: Call<'getGroup'>,
): Promise<ResponseOf<'getGroup'>> {
  const group = await store.findGroup(db, organizationId, directoryId, externalId)
  if (group === undefined) throw notFound()
  return group
}

export async function deleteGroup(
  { db }: HandlerDeps,
  { origin, organizationId, directoryId, externalId }: Call<'deleteGroup'>,
): Promise<ResponseOf<'deleteGroup'>> {
  return writeDirectory(db, organizationId, directoryId, async (trx, directory) => {
    const group = await store.deleteGroup(trx, directoryId, externalId)
    if (group === undefined) throw notFound()
    await recordEvents(trx, origin, [entryEvent(contextOf(origin, directory), 'delete', group)])
    return undefined
  })
}

export async function updateGroup(
  { db }: HandlerDeps,
  { grant, origin, organizationId, directoryId, externalId, form }: Call<'updateGroup'>,
): Promise<ResponseOf<'updateGroup'>> {
  checkValues(form, grant.allowedDomains)
  const { name, external_member_ids: members } = form
  return writeDirectory(db, organizationId, directoryId, async (trx, directory) => {
    const update = await store.updateGroup(trx, directoryId, externalId, { name, members })
    if (update === undefined) throw notFound()
    const { nameBefore, after, fields } = update
    const context = contextOf(origin, directory)
    const changes = entryChanges(fields, nameBefore)
    if (fields.length > 0) await recordEvents(trx, origin, [entryEvent(context, 'update', after, changes)])
    return toGroup(after)
  })
}

function contextOf({ actor }: Origin, directory: LockedDirectory): EntryContext {
  return { actor, kind: 'group', directory }
}

function toGroup({ external_id, name, external_member_ids }: store.GroupRow): ExternalGroup {
  return { external_id, name, external_member_ids }
}

function toNewGroup(form: Call<'createGroups'>['form'][number]): store.NewGroup {
  return { external_id: form.external_id, name: form.name, members: [...new Set(form.external_member_ids)] }
}
