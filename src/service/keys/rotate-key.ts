import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../../base/errors.ts'
import { type Database, openDatabase } from '../store/database.ts'
import {
  findSealedWithOtherKey,
  lockSealedWithOtherKey,
  purposeOf,
  sampleSealed,
  SEALED_COLUMNS,
  type SealedColumn,
  updateSealed,
} from '../store/sealed.ts'
import type { Vault } from './vault.ts'

/** Values per transaction: few enough that no request waits long for a locked row. */
const BATCH = 100

/**
 * Throws `DirsyncdError('secret-unavailable')` when the vault cannot open the store's values, because a key is missing
 * or another key has its id. Without this check these values would be lost, and new ones would be encrypted with the
 * wrong key. Tries the first and the last value of each key in each table; one that opens is enough, so that a single
 * damaged value does not prevent the start.
 */
export async function requireKeys(pool: Pool, vault: Vault): Promise<void> {
  const db = openDatabase(pool)
  const tried = new Set<string>()
  const opened = new Set<string>()
  for (const column of SEALED_COLUMNS) {
    for (const { id, keyId, sealed } of await sampleSealed(db, column)) {
      if (!vault.has(keyId)) throw keyMissing(keyId)
      tried.add(keyId)
      if (canOpen(vault, sealed, keyId, purposeOf(column.table, id))) opened.add(keyId)
    }
  }
  const [wrong] = tried.difference(opened)
  if (wrong !== undefined) throw keyWrong(wrong)
}

/**
 * Re-encrypts with the vault's current key every value of another key, and resolves with their number. May run beside
 * services, and may be interrupted: each batch is a transaction. A value that cannot be opened stays as it is; after
 * all others are done, it throws `DirsyncdError('secret-unavailable')`.
 */
export async function rotateKey(pool: Pool, vault: Vault): Promise<number> {
  const db = openDatabase(pool)
  const failures = new Map<string, string>()
  let rotated = 0
  for (const column of SEALED_COLUMNS) {
    // A service with the old key file may still encrypt with the old key behind this pass.
    for (let more = true; more;) {
      const count = await rotateColumn(db, vault, column, failures)
      rotated += count
      more = count > 0
    }
  }
  const [first] = failures
  if (first === undefined) return rotated
  const what = `${rotated} values were encrypted with the key ${vault.keyId}, but ${failures.size} cannot be decrypted and stay as they are`
  throw new DirsyncdError('secret-unavailable', `${what}; the first is that of ${first[0]}: ${first[1]}`)
}

async function rotateColumn(
  db: Database,
  vault: Vault,
  column: SealedColumn,
  failures: Map<string, string>,
): Promise<number> {
  let rotated = 0
  for (let after = 0; ;) {
    const ids = await findSealedWithOtherKey(db, column, vault.keyId, { after, limit: BATCH })
    const last = ids.at(-1)
    if (last === undefined) return rotated
    rotated += await rotateValues(db, vault, column, ids, failures)
    after = last
  }
}

/** Returns the number of its own values; another process may have done some of them meanwhile. */
async function rotateValues(
  db: Database,
  vault: Vault,
  column: SealedColumn,
  ids: readonly number[],
  failures: Map<string, string>,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const locked = await lockSealedWithOtherKey(trx, column, vault.keyId, ids)
    const values = locked.flatMap(({ id, keyId, sealed }) => {
      const purpose = purposeOf(column.table, id)
      try {
        return [{ id, sealed: vault.seal(vault.open(sealed, keyId, purpose), purpose) }]
      } catch (error) {
        failures.set(purpose, sentence(error))
        return []
      }
    })
    if (values.length > 0) await updateSealed(trx, column, vault.keyId, values)
    return values.length
  })
}

function canOpen(vault: Vault, sealed: string, keyId: string, purpose: string): boolean {
  try {
    vault.open(sealed, keyId, purpose)
    return true
  } catch {
    return false
  }
}

function keyMissing(keyId: string): DirsyncdError {
  const what = `The store holds values that are encrypted with the key ${keyId}, which is not in the key file`
  return new DirsyncdError('secret-unavailable', `${what}; put it back below the first line.`)
}

function keyWrong(keyId: string): DirsyncdError {
  const what = `The key ${keyId} of the key file does not decrypt the values that name a key of this id`
  return new DirsyncdError(
    'secret-unavailable',
    `${what}; put the original key ${keyId} back, and give the other key another id.`,
  )
}
