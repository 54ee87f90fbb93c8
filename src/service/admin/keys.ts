import type { Pool } from 'pg'
import type { ReloadableVault } from '../keys/key-file.ts'
import { requireKeys, rotateKey } from '../keys/rotate-key.ts'
import { openDatabase } from '../store/database.ts'
import { usedKeyIds } from '../store/sealed.ts'

export interface KeyRotation {
  readonly keyId: string
  readonly sealed: number
  readonly removable: readonly string[]
}

/**
 * Reads the key file and re-encrypts everything with its first key, which the vault uses from then on. If the file
 * lacks a key that is in use, throws `DirsyncdError('secret-unavailable')`, and the vault keeps its keys.
 */
export async function rotateKeys(pool: Pool, vault: ReloadableVault): Promise<KeyRotation> {
  const { keyId, keyIds } = await vault.reload((next) => requireKeys(pool, next))
  const sealed = await rotateKey(pool, vault)
  const used = new Set([keyId, ...(await usedKeyIds(openDatabase(pool)))])
  return { keyId, sealed, removable: keyIds.filter((id) => !used.has(id)) }
}
