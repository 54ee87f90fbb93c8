import type { AdminDeps } from './deps.ts'
import { requireOrganization, withNewId } from './rows.ts'

export interface ContactView {
  readonly id: number
  readonly organizationId: number
  readonly name: string
  readonly email: string
  readonly status: string
  readonly createdAt: string
}

export async function createContact(
  { db, now }: AdminDeps,
  {
    organizationId,
    name,
    email,
  }: { readonly organizationId: number; readonly name: string; readonly email: string },
): Promise<ContactView> {
  const createdAt = now()
  const status = 'active'
  return withNewId(db, 'contacts', async (trx, id) => {
    await requireOrganization(trx, organizationId)
    await trx
      .insertInto('contacts')
      .values({ id, organization_id: organizationId, name, email, status, created_at: createdAt })
      .execute()
    return { id, organizationId, name, email, status, createdAt: createdAt.toISOString() }
  })
}

export async function listContacts(
  { db }: AdminDeps,
  { organizationId }: { readonly organizationId?: number | undefined },
): Promise<readonly ContactView[]> {
  const rows = await db
    .selectFrom('contacts')
    .select(['id', 'organization_id as organizationId', 'name', 'email', 'status', 'created_at as createdAt'])
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId!))
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }))
}
