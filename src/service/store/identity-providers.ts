import { createIdentityProvider, type IdentityProvider, issuerOf } from '../saml/identity-provider.ts'
import type { Vault } from '../keys/vault.ts'
import type { Database } from './database.ts'

/**
 * The identity provider of an organization, made on first use. When several processes make it at the same time, all of
 * them get the first one. Do not call it in a transaction: making a key takes long. Throws a `DirsyncdError`
 * (`secret-unavailable`) where the vault no longer has the key for it.
 */
export async function identityProviderOf(
  db: Database,
  vault: Vault,
  organizationId: number,
  now: Date,
): Promise<IdentityProvider> {
  const known = await find(db, vault, organizationId)
  if (known !== undefined) return known
  const { certificate, privateKey } = await createIdentityProvider(organizationId, now)
  await db
    .insertInto('identity_providers')
    .values({
      organization_id: organizationId,
      certificate,
      private_key: vault.seal(privateKey, purposeOf(organizationId)),
      key_id: vault.keyId,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .execute()
  const made = await find(db, vault, organizationId)
  if (made === undefined) throw new Error('The identity provider that was just made is not there.')
  return made
}

async function find(
  db: Database,
  vault: Vault,
  organizationId: number,
): Promise<IdentityProvider | undefined> {
  const row = await db
    .selectFrom('identity_providers')
    .select(['certificate', 'private_key as sealed', 'key_id as keyId'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const privateKey = vault.open(row.sealed, row.keyId, purposeOf(organizationId))
  return { issuer: issuerOf(organizationId), certificate: row.certificate, privateKey }
}

/** What the sealed key is bound to. */
function purposeOf(organizationId: number): string {
  return `identity-provider:${organizationId}`
}
