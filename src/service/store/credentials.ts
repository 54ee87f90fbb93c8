import type { PasswordStrength } from '../../api/contract/subscription.ts'
import type { Vault } from '../keys/vault.ts'
import { type Database, json, type Trx } from './database.ts'
import { purposeOf } from './sealed.ts'

/** Plain values by name. */
export type CredentialValues = Readonly<Record<string, string>>

/** The sealed credentials of a subscription, with what decides whether its contact may read or reset them. */
export type CredentialsRow = NonNullable<Awaited<ReturnType<typeof findCredentials>>>

function selectCredentials(db: Database, contactId: number, id: number) {
  return db
    .selectFrom('subscriptions as s')
    .innerJoin('installations as i', 'i.id', 's.installation_id')
    .innerJoin('providers as p', 'p.id', 'i.provider_id')
    .select([
      's.id',
      's.kind',
      's.name',
      's.permissions',
      's.credentials',
      's.key_id',
      'p.name as provider_name',
      'p.capabilities',
    ])
    .where('s.id', '=', id)
    .where('s.contact_id', '=', contactId)
}

/** `undefined` where the contact has no such subscription. */
export async function findCredentials(db: Database, contactId: number, id: number) {
  return selectCredentials(db, contactId, id).executeTakeFirst()
}

/** Like `findCredentials`, and locks the row until the transaction ends. */
export async function lockCredentials(
  trx: Trx,
  contactId: number,
  id: number,
): Promise<CredentialsRow | undefined> {
  return selectCredentials(trx, contactId, id).forUpdate('s').executeTakeFirst()
}

export async function updateCredentials(
  trx: Trx,
  vault: Vault,
  id: number,
  values: CredentialValues,
  strength: PasswordStrength,
): Promise<void> {
  await trx
    .updateTable('subscriptions')
    .set({ ...sealCredentials(vault, id, values), password_strength: json(strength) })
    .where('id', '=', id)
    .execute()
}

/** The columns that hold the credentials; the sealed value is bound to the subscription `id`. */
export function sealCredentials(
  vault: Vault,
  id: number,
  values: CredentialValues,
): { credentials: string; key_id: string } {
  return {
    credentials: vault.seal(JSON.stringify(values), purposeOf('subscriptions', id)),
    key_id: vault.keyId,
  }
}

/** Throws a `DirsyncdError` (`secret-unavailable`) where the key is missing or the row was changed. */
export function openCredentials(
  vault: Vault,
  { id, credentials, key_id }: Pick<CredentialsRow, 'id' | 'credentials' | 'key_id'>,
): CredentialValues {
  return JSON.parse(vault.open(credentials, key_id, purposeOf('subscriptions', id))) as CredentialValues
}
