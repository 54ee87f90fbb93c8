import { X509Certificate } from 'node:crypto'
import { DirsyncdError } from '../../base/errors.ts'
import { requireResource } from '../resources/write.ts'
import { metadataOf } from '../saml/metadata.ts'
import { createKeyPair } from '../saml/signing-key.ts'
import type { Database } from '../store/database.ts'
import {
  addSigningKey,
  currentSigningKey,
  deleteSigningKey,
  findSigningKey,
  listSigningKeys,
  requireUsable,
  setCurrentKey,
  type SigningKeyRow,
} from '../store/signing-keys.ts'
import type { AdminDeps } from './deps.ts'
import { inTurn } from './in-turn.ts'

/** Signs the assertions of an organization, or is in its metadata beside the signing key. */
export interface SigningKeyView {
  readonly id: number
  readonly organization: number
  readonly current: boolean
  /** SHA-256 of the certificate, in hexadecimal digits with colons. */
  readonly fingerprint: string
  readonly createdAt: string
  /** Applications refuse it from then on. */
  readonly expiresAt: string
}

export interface SamlMetadata {
  readonly entityId: string
  readonly metadata: string
}

interface OfOrganization {
  readonly organizationId: number
}

/** Creates the first key. The metadata has the certificates of all keys. */
export async function readSamlMetadata(
  { db, now, publicUrl, writeContext }: AdminDeps,
  { organizationId }: OfOrganization,
): Promise<SamlMetadata> {
  const { fields } = await requireResource(db, 'organization', organizationId)
  const entityId = String(fields['entityId'])
  await currentSigningKey(db, (await writeContext()).vault, organizationId, now())
  const certificates = (await listSigningKeys(db, organizationId)).map(({ certificate }) => certificate)
  return { entityId, metadata: metadataOf({ entityId, certificates }, publicUrl) }
}

export async function listSamlKeys(
  { db }: AdminDeps,
  { organizationId }: OfOrganization,
): Promise<readonly SigningKeyView[]> {
  await requireResource(db, 'organization', organizationId)
  return (await listSigningKeys(db, organizationId)).map(viewOf)
}

/** Adds a key to the metadata that does not sign yet; the first one signs at once. */
export async function createSamlKey(
  { db, now, writeContext }: AdminDeps,
  { organizationId }: OfOrganization,
): Promise<SigningKeyView> {
  await requireResource(db, 'organization', organizationId)
  const pair = await createKeyPair(organizationId, now())
  const { vault } = await writeContext()
  return inTurn({ db }, async (trx) => {
    await requireResource(trx, 'organization', organizationId)
    const current = (await listSigningKeys(trx, organizationId)).length === 0
    const id = await addSigningKey(trx, vault, { organizationId, current, pair }, now())
    if (id === undefined) throw new DirsyncdError('usage', 'A request is making the first key; try again.')
    return viewOf(await requireKey(trx, id))
  })
}

/** Signs with this key from now on, if it can be opened; the previous one stays in the metadata. */
export async function useSamlKey(
  { db, writeContext }: AdminDeps,
  { id }: { readonly id: number },
): Promise<SigningKeyView> {
  const { vault } = await writeContext()
  return inTurn({ db }, async (trx) => {
    const key = await requireKey(trx, id)
    await requireUsable(trx, vault, id)
    await setCurrentKey(trx, key)
    return viewOf(await requireKey(trx, id))
  })
}

/** Throws for the signing key. */
export async function removeSamlKey(
  { db }: AdminDeps,
  { id }: { readonly id: number },
): Promise<SigningKeyView> {
  return inTurn({ db }, async (trx) => {
    const key = await requireKey(trx, id)
    if (await deleteSigningKey(trx, id)) return viewOf(key)
    throw new DirsyncdError(
      'usage',
      `The key ${id} signs for organization ${key.organizationId}; let another one sign first: access-service saml key use ID.`,
    )
  })
}

async function requireKey(db: Database, id: number): Promise<SigningKeyRow> {
  const key = await findSigningKey(db, id)
  if (key === undefined) {
    throw new DirsyncdError(
      'id-unknown',
      `There is no SAML key ${id}; access-service saml key list --organization ID shows those of an organization.`,
    )
  }
  return key
}

function viewOf({ id, organizationId, current, certificate, createdAt }: SigningKeyRow): SigningKeyView {
  const { fingerprint256: fingerprint, validToDate } = new X509Certificate(certificate)
  const expiresAt = validToDate.toISOString()
  return {
    id,
    organization: organizationId,
    current,
    fingerprint,
    createdAt: createdAt.toISOString(),
    expiresAt,
  }
}
