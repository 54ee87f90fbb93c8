import type { AdminDeps } from './deps.ts'
import { withNewId } from './rows.ts'

export interface OrganizationView {
  readonly id: number
  readonly name: string
  readonly allowedDomains: readonly string[]
  readonly createdAt: string
}

export async function createOrganization(
  { db, now }: AdminDeps,
  { name, allowedDomains }: { readonly name: string; readonly allowedDomains: string[] },
): Promise<OrganizationView> {
  const createdAt = now()
  const domains = [...new Set(allowedDomains.map((domain) => domain.normalize('NFC').toLowerCase()))]
  return withNewId(db, 'organizations', async (trx, id) => {
    await trx
      .insertInto('organizations')
      .values({ id, name, allowed_domains: domains, created_at: createdAt })
      .execute()
    return { id, name, allowedDomains: domains, createdAt: createdAt.toISOString() }
  })
}

export async function listOrganizations({ db }: AdminDeps): Promise<readonly OrganizationView[]> {
  const rows = await db
    .selectFrom('organizations')
    .select(['id', 'name', 'allowed_domains as allowedDomains', 'created_at as createdAt'])
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }))
}
