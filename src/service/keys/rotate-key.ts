import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../../errors.ts'
import { type Database, openDatabase } from '../store/database.ts'
import {
  findSealedOtherwise,
  holdSealedOtherwise,
  sampleSealed,
  SEALED_COLUMNS,
  type SealedColumn,
  updateSealed,
} from '../store/sealed.ts'
import type { Vault } from './vault.ts'

/** Values of one transaction: so few that nobody waits for their rows. */
const BATCH = 100

/**
 * Refuses to go on when the store holds values that the vault cannot open, because a key is gone or another key has its
 * id: they would be lost, and new ones would be sealed with a key that does not belong here. Of each key the
 * first and the last value of a table are tried, and one that opens is enough, so that a single damaged value does not
 * keep the service from starting. Throws `DirsyncdError('secret-unavailable')`.
 */
export async function requireKeys(pool: Pool, vault: Vault): Promise<void> {
  const db = openDatabase(pool)
  const tried = new Set<string>()
  const opened = new Set<string>()
  for (const column of SEALED_COLUMNS) {
    for (const { id, keyId, sealed } of await sampleSealed(db, column)) {
      if (!vault.has(keyId)) throw keyGone(keyId)
      tried.add(keyId)
      if (opens(vault, sealed, keyId, `${column.purpose}:${id}`)) opened.add(keyId)
    }
  }
  const [wrong] = tried.difference(opened)
  if (wrong !== undefined) throw keyWrong(wrong)
}

/**
 * Seals with the vault's current key everything in the store that is sealed with another one, and resolves with how
 * many values those were. Safe while services run, and safe to break off: each batch is a transaction. A value that
 * cannot be opened stays as it is, and when all others are done it throws `DirsyncdError('secret-unavailable')`.
 */
export async function rotateKey(pool: Pool, vault: Vault): Promise<number> {
  const db = openDatabase(pool)
  const failures = new Map<string, string>()
  let rotated = 0
  for (const column of SEALED_COLUMNS) {
    // A service that has not read the new key file goes on sealing with the old key, also behind this walk.
    for (let more = true; more;) {
      const count = await rotateColumn(db, vault, column, failures)
      rotated += count
      more = count > 0
    }
  }
  const [first] = failures
  if (first === undefined) return rotated
  const what = `${rotated} values were sealed with the key ${vault.keyId}, but ${failures.size} cannot be opened and stay as they are`
  throw new DirsyncdError('secret-unavailable', `${what}; the first is that of ${first[0]}: ${first[1]}`)
}

/** One walk through a table by id. */
async function rotateColumn(
  db: Database,
  vault: Vault,
  column: SealedColumn,
  failures: Map<string, string>,
): Promise<number> {
  let rotated = 0
  for (let after = 0; ;) {
    const ids = await findSealedOtherwise(db, column, vault.keyId, { after, limit: BATCH })
    const last = ids.at(-1)
    if (last === undefined) return rotated
    rotated += await rotateValues(db, vault, column, ids, failures)
    after = last
  }
}

/** Some of them may have been sealed again meanwhile. */
async function rotateValues(
  db: Database,
  vault: Vault,
  column: SealedColumn,
  ids: readonly number[],
  failures: Map<string, string>,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const held = await holdSealedOtherwise(trx, column, vault.keyId, ids)
    const values = held.flatMap(({ id, keyId, sealed }) => {
      const purpose = `${column.purpose}:${id}`
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

function opens(vault: Vault, sealed: string, keyId: string, purpose: string): boolean {
  try {
    vault.open(sealed, keyId, purpose)
    return true
  } catch {
    return false
  }
}

function keyGone(keyId: string): DirsyncdError {
  const what = `The store holds values that are encrypted with the key ${keyId}, which is not in the key file`
  return new DirsyncdError('secret-unavailable', `${what}; put it back behind the first line.`)
}

function keyWrong(keyId: string): DirsyncdError {
  const what = `The key ${keyId} of the key file does not open what the store holds under its id`
  return new DirsyncdError(
    'secret-unavailable',
    `${what}; put the key back that was called ${keyId}, and give the other one another id.`,
  )
}
