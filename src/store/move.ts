import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { DirsyncdError } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { hasEmbeddedStore, lastAside, movingPlace, newAside } from '../base/database/aside.ts'
import { type CopiedTable, copyTables } from './copy.ts'
import { deviceId } from './device-id.ts'
import { openEmbeddedPool } from '../base/database/embedded.ts'
import { openStore } from './open.ts'

export interface MovedStore {
  /** Empty where all was moved before, or the answer to the commit was lost. */
  readonly tables: readonly CopiedTable[]
  /** Where the files of the embedded store are now. */
  readonly kept: string
}

/**
 * Copies the embedded store of `dataDir`, which the caller owns, into an empty one in one transaction, and puts its files
 * aside: before the commit, so that at no moment both could be opened. A move that was killed is made good by the next one.
 */
export async function moveInto(to: Pool, dataDir: string, log: Log): Promise<MovedStore> {
  const tables = (await wasMoved(to, dataDir)) ? [] : await copyAll(to, dataDir, log)
  const aside = lastAside(dataDir) ?? ''
  if (aside !== movingPlace(dataDir)) return { tables, kept: aside }
  const kept = newAside(dataDir)
  await rename(aside, kept)
  return { tables, kept }
}

/** Whether a move before this one was committed. If not, its files are put back. */
async function wasMoved(to: Pool, dataDir: string): Promise<boolean> {
  const aside = lastAside(dataDir)
  if (hasEmbeddedStore(dataDir) || aside === undefined) return false
  const device = await deviceOf(aside)
  if (await alone(to, (target) => hasCopyOf(device, target))) return true
  if (aside !== movingPlace(dataDir)) throw movedElsewhere(aside, join(dataDir, 'store'))
  await rename(aside, join(dataDir, 'store'))
  return false
}

async function deviceOf(aside: string): Promise<string | undefined> {
  await using pool = await openEmbeddedPool(aside)
  return (await pool.query(`SELECT value FROM dirsyncd.settings WHERE name = 'device-id'`)).rows[0]?.value
}

/** Works in a transaction that begins no sooner than one that is being committed has ended. */
async function alone<T>(to: Pool, work: (target: PoolClient) => Promise<T>): Promise<T> {
  const target = await to.connect()
  try {
    await target.query('BEGIN; LOCK TABLE dirsyncd.runs IN EXCLUSIVE MODE')
    return await work(target)
  } finally {
    // Closes the connection, and so takes back what is not committed.
    target.release(true)
  }
}

/** By the device id of the store. Throws where the other one has runs, and is no copy. */
async function hasCopyOf(device: string | undefined, target: PoolClient): Promise<boolean> {
  const { rowCount: copies } = await target.query('SELECT FROM dirsyncd.settings WHERE value = $1', [device])
  const { rowCount: runs } = await target.query('SELECT FROM dirsyncd.runs LIMIT 1')
  if (copies === 1 || runs === 0) return copies === 1
  throw storeHasRuns()
}

function movedElsewhere(aside: string, store: string): DirsyncdError {
  return new DirsyncdError(
    'store-unavailable',
    `The embedded store was moved already, and not into the database that \`store\` names: name the one that it was moved ` +
      `into, or, to move the old files in ${aside} once more, rename them to ${store}.`,
  )
}

function storeHasRuns(): DirsyncdError {
  return new DirsyncdError(
    'store-unavailable',
    'The store that `store` names has runs already, so nothing was moved into it: name an empty database, or go on with what it has.',
  )
}

async function copyAll(to: Pool, dataDir: string, log: Log): Promise<readonly CopiedTable[]> {
  await using stack = new AsyncDisposableStack()
  const from = stack.use(await openStore({ kind: 'embedded', dataDir, isOwned: true, log }))
  const device = await deviceId(from.db)
  try {
    return await alone(to, async (target) => {
      if (await hasCopyOf(device, target)) throw storeHasRuns()
      // What a process makes that only looks into an empty store.
      await target.query('DELETE FROM dirsyncd.settings; DELETE FROM dirsyncd.leases')
      const tables = await copyTables(from.pool, target)
      await stack.disposeAsync()
      await rename(join(dataDir, 'store'), movingPlace(dataDir))
      await target.query('COMMIT')
      return tables
    })
  } catch (error) {
    // Nobody knows what became of a commit whose connection broke; the server does.
    if (hasEmbeddedStore(dataDir) || !(await wasMoved(to, dataDir))) throw error
    return []
  }
}
