import type { OrganizationGroup } from '../../api/contract/resources.ts'
import { notFound } from '../http/problem.ts'
import * as store from '../store/organization-groups.ts'
import { timestamp } from '../timestamp.ts'
import type { ResponseOf, Call, HandlerDeps } from './handler.ts'

export async function listOrganizationGroups(
  { db }: HandlerDeps,
  { organizationId, page, query }: Call<'listOrganizationGroups'>,
): Promise<ResponseOf<'listOrganizationGroups'>> {
  const { items, total } = await store.listOrganizationGroups(db, organizationId, query.q ?? '', page)
  return { items: items.map(toGroup), total }
}

export async function getOrganizationGroup(
  { db }: HandlerDeps,
  { organizationId, groupId }: Call<'getOrganizationGroup'>,
): Promise<ResponseOf<'getOrganizationGroup'>> {
  const row = await store.findOrganizationGroup(db, organizationId, groupId)
  if (row === undefined) throw notFound()
  return toGroup(row)
}

function toGroup(row: store.OrganizationGroupRow): OrganizationGroup {
  const { id, name, contacts_count, installations_count, created_at } = row
  return { id, name, contacts_count, installations_count, created_at: timestamp(created_at) }
}
