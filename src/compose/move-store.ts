import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import type { Config } from '../config/config.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { hasEmbeddedStore, lastAside, movingPlace, newAside } from '../base/database/aside.ts'
import { type CopiedTable, copyStore, hasCopyOf, storeHasRuns } from '../store/copy.ts'
import { deviceId } from '../store/device-id.ts'
import { openEmbeddedPool } from '../base/database/embedded.ts'
import { openStore, type Store } from '../store/open.ts'
import { isAway } from '../base/database/outage.ts'
import { acquireDataDir } from '../base/database/owner.ts'
import { isWithoutRuns } from '../store/runs.ts'
import { databaseOptions } from '../base/database/open.ts'

export interface MovedStore {
  /** Empty where all was moved before, or the answer to the commit was lost. */
  readonly tables: readonly CopiedTable[]
  /** Where the files of the embedded store are now. */
  readonly kept: string
}

interface Move {
  readonly dataDir: string
  readonly log: Log
  /** The store to move to. */
  readonly to: Store
}

const COMMAND = 'dirsyncd store move'

/**
 * Copies what the embedded store of `dataDir` has into the PostgreSQL store that the configuration names, and puts the
 * files of the embedded one aside: before the copy is committed, so that at no moment both could be opened, and a command
 * that is killed in between is made good by the next one. Throws `config-invalid`, `store-owned` while a daemon has the
 * data directory, and `store-unavailable`.
 */
export async function moveStore({ store, dataDir }: Config, log: Log): Promise<MovedStore> {
  if (store.kind === 'embedded') {
    throw new DirsyncdError(
      'config-invalid',
      'There is nowhere to move to: set `store` to a postgres:// URL first, and keep `dataDir`, where the embedded store is.',
    )
  }
  if (!hasEmbeddedStore(dataDir) && lastAside(dataDir) === undefined) throw nothingToMove(dataDir)
  await using _owned = await acquireDataDir(dataDir, { command: COMMAND })
  try {
    await using to = await openStore(databaseOptions(store, { dataDir, command: COMMAND, log }))
    return await moveTo({ dataDir, log, to })
  } catch (error) {
    if (error instanceof DirsyncdError) throw error
    throw new DirsyncdError('store-unavailable', notMoved(error), { cause: error })
  }
}

async function moveTo(move: Move): Promise<MovedStore> {
  const { dataDir, to } = move
  const aside = lastAside(dataDir)
  if (!hasEmbeddedStore(dataDir) && aside !== undefined) {
    if (await hasCopyOf(await deviceOf(aside), to.pool))
      return { tables: [], kept: await putAside(dataDir, aside) }
    if (!(await isWithoutRuns(to.db))) throw storeHasRuns()
    await rename(aside, join(dataDir, 'store'))
  }
  const tables = await copyAll(move)
  return { tables, kept: await putAside(dataDir, movingPlace(dataDir)) }
}

/** Names what is moved after the time. Says where it is. */
async function putAside(dataDir: string, files: string): Promise<string> {
  if (files !== movingPlace(dataDir)) return files
  const kept = newAside(dataDir)
  await rename(files, kept)
  return kept
}

/** The device id of a store that was put aside; a server with the same one has all that it had. */
async function deviceOf(aside: string): Promise<string> {
  await using pool = await openEmbeddedPool(aside)
  return await deviceId(new Kysely({ dialect: new PostgresDialect({ pool }) }))
}

/** Copies all, and has the files where those of a move are. */
async function copyAll({ dataDir, log, to }: Move): Promise<readonly CopiedTable[]> {
  const [files, moving] = [join(dataDir, 'store'), movingPlace(dataDir)]
  await using stack = new AsyncDisposableStack()
  const from = stack.use(await openOwned(dataDir, log))
  const device = await deviceId(from.db)
  let isAside = false
  try {
    return await copyStore(from.pool, to.pool, async () => {
      await stack.disposeAsync()
      await rename(files, moving)
      isAside = true
    })
  } catch (error) {
    if (!isAside) throw error
    if (await wasCommitted(device, to)) return []
    await rename(moving, files)
    throw error
  }
}

/** Nobody knows what became of a commit whose connection broke; the server does. */
async function wasCommitted(device: string, to: Store): Promise<boolean> {
  try {
    return await hasCopyOf(device, to.pool)
  } catch (cause) {
    throw new DirsyncdError(
      'store-unavailable',
      `PostgreSQL went away in the last moment (${sentence(cause)}), so it is not known whether the store was moved: run ` +
        '`dirsyncd store move` again when it answers, before any daemon.',
      { cause },
    )
  }
}

function openOwned(dataDir: string, log: Log): Promise<Store> {
  return openStore({ kind: 'embedded', dataDir, isOwned: true, log })
}

function nothingToMove(dataDir: string): DirsyncdError {
  return new DirsyncdError('usage', `There is no embedded store in ${dataDir}, so there is nothing to move.`)
}

function notMoved(error: unknown): string {
  const what =
    isAway(error) || /discarded/.test(sentence(error)) ? 'the connection to PostgreSQL broke' : 'it failed'
  return `Nothing was moved, because ${what} (${sentence(error).replace(/\.$/, '')}): the embedded store is as it was.`
}
