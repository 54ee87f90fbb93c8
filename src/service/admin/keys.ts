import type { Pool } from 'pg'
import type { LiveVault } from '../keys/key-file.ts'
import { rotateKey } from '../keys/rotate-key.ts'
import { openDatabase } from '../store/database.ts'
import { usedKeyIds } from '../store/sealed.ts'

/** What a rotation has done. */
export interface KeyRotation {
  /** The key that everything is sealed with now. */
  readonly keyId: string
  /** How many values were sealed again. */
  readonly sealed: number
  /** Other keys of the key file that nothing is sealed with any more. */
  readonly removable: readonly string[]
}

/**
 * Seals everything again with the first key of the file as it is now; from then on the vault seals with it, too. Throws
 * `DirsyncdError('secret-unavailable')`.
 */
export async function rotateKeys(pool: Pool, vault: LiveVault): Promise<KeyRotation> {
  const { keyId, keyIds } = vault.reload()
  const sealed = await rotateKey(pool, vault)
  const used = new Set([keyId, ...(await usedKeyIds(openDatabase(pool)))])
  return { keyId, sealed, removable: keyIds.filter((id) => !used.has(id)) }
}
