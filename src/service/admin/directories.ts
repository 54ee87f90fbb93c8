import type { AdminDeps } from './deps.ts'
import { requireOrganization, withNewId } from './rows.ts'

export interface DirectoryView {
  readonly id: number
  readonly organizationId: number
  readonly name: string
  readonly targetType: string
  readonly users: number
  readonly groups: number
}

export async function createDirectory(
  { db }: AdminDeps,
  {
    organizationId,
    name,
    targetType,
  }: { readonly organizationId: number; readonly name: string; readonly targetType: string },
): Promise<DirectoryView> {
  return withNewId(db, 'directories', async (trx, id) => {
    await requireOrganization(trx, organizationId)
    await trx
      .insertInto('directories')
      .values({ id, organization_id: organizationId, name, doppler: false, target_type: targetType })
      .execute()
    return { id, organizationId, name, targetType, users: 0, groups: 0 }
  })
}

export async function listDirectories(
  { db }: AdminDeps,
  { organizationId }: { readonly organizationId?: number | undefined },
): Promise<readonly DirectoryView[]> {
  return db
    .selectFrom('directories')
    .select([
      'id',
      'organization_id as organizationId',
      'name',
      'target_type as targetType',
      'user_count as users',
      'group_count as groups',
    ])
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId!))
    .orderBy('id')
    .execute()
}
