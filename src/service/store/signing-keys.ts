import type { Vault } from '../keys/vault.ts'
import { createKeyPair, type SigningKey } from '../saml/signing-key.ts'
import type { Database, Trx } from './database.ts'
import { purposeOf } from './sealed.ts'

/** A key without its secret. */
export interface SigningKeyRow {
  readonly id: number
  readonly organizationId: number
  /** PEM. */
  readonly certificate: string
  /** Whether it signs; only one of an organization does. */
  readonly current: boolean
  readonly createdAt: Date
}

/** The keys of an organization, the current one first. */
export async function listSigningKeys(db: Database, organizationId: number): Promise<SigningKeyRow[]> {
  return selectKeys(db).where('organization_id', '=', organizationId).execute()
}

export async function findSigningKey(db: Database, id: number): Promise<SigningKeyRow | undefined> {
  return selectKeys(db).where('id', '=', id).executeTakeFirst()
}

function selectKeys(db: Database) {
  return db
    .selectFrom('signing_keys')
    .select(['id', 'organization_id as organizationId', 'certificate', 'current', 'created_at as createdAt'])
    .orderBy('current', 'desc')
    .orderBy('id')
}

/**
 * The key that signs for an organization, made on first use. When several processes make it at the same time, all of
 * them get the first one. Do not call it in a transaction: making a key takes long. Throws a `DirsyncdError`
 * (`secret-unavailable`) where the vault no longer has the key for it.
 */
export async function currentSigningKey(
  db: Database,
  vault: Vault,
  organizationId: number,
  now: Date,
): Promise<SigningKey> {
  const known = await openCurrent(db, vault, organizationId)
  if (known !== undefined) return known
  const pair = await createKeyPair(organizationId, now)
  const first = { organizationId, current: true, pair }
  await db.transaction().execute((trx) => addSigningKey(trx, vault, first, now))
  const made = await openCurrent(db, vault, organizationId)
  if (made === undefined) throw new Error('The signing key that was just made is not there.')
  return made
}

async function openCurrent(
  db: Database,
  vault: Vault,
  organizationId: number,
): Promise<SigningKey | undefined> {
  const row = await db
    .selectFrom('signing_keys')
    .select(['id', 'certificate', 'private_key as sealed', 'key_id as keyId'])
    .where('organization_id', '=', organizationId)
    .where('current', '=', true)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    certificate: row.certificate,
    privateKey: vault.open(row.sealed, row.keyId, purposeOf('signing_keys', row.id)),
  }
}

/** Throws a `DirsyncdError` (`secret-unavailable`) where the vault cannot open the key. */
export async function requireUsable(db: Database, vault: Vault, id: number): Promise<void> {
  const { sealed, keyId } = await db
    .selectFrom('signing_keys')
    .select(['private_key as sealed', 'key_id as keyId'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  vault.open(sealed, keyId, purposeOf('signing_keys', id))
}

export interface NewKey {
  readonly organizationId: number
  /** Whether it signs. */
  readonly current: boolean
  readonly pair: SigningKey
}

/** Resolves with the id; `undefined` if it was to be the current one, and there is one by now. */
export async function addSigningKey(
  trx: Trx,
  vault: Vault,
  { organizationId, current, pair }: NewKey,
  now: Date,
): Promise<number | undefined> {
  const row = {
    organization_id: organizationId,
    certificate: pair.certificate,
    private_key: '',
    key_id: vault.keyId,
    created_at: now,
  }
  const made = await trx
    .insertInto('signing_keys')
    .values({ ...row, current })
    .onConflict((conflict) => conflict.column('organization_id').where('current', '=', true).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (made === undefined) return undefined
  // Read only now: meanwhile a rotation may have given the vault another key.
  const { keyId } = vault
  await trx
    .updateTable('signing_keys')
    .set({ key_id: keyId, private_key: vault.seal(pair.privateKey, purposeOf('signing_keys', made.id)) })
    .where('id', '=', made.id)
    .execute()
  return made.id
}

/** Lets this key of an organization sign from now on. */
export async function setCurrentKey(trx: Trx, { id, organizationId }: SigningKeyRow): Promise<void> {
  const keys = () => trx.updateTable('signing_keys').where('organization_id', '=', organizationId)
  await keys().set({ current: false }).where('current', '=', true).execute()
  await keys().set({ current: true }).where('id', '=', id).execute()
}

/** Deletes a key that does not sign; returns whether it did. */
export async function deleteSigningKey(db: Database, id: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('signing_keys')
    .where('id', '=', id)
    .where('current', '=', false)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
