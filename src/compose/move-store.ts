import type { Config } from '../config/config.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { hasEmbeddedStore, lastAside } from '../base/database/aside.ts'
import { moveInto } from '../operations/move-store.ts'
import { openStore } from '../store/open.ts'
import { isAway } from '../base/database/outage.ts'
import { acquireDataDir } from '../base/database/owner.ts'
import { databaseOptions } from '../base/database/open.ts'

const COMMAND = 'dirsyncd store move'

/**
 * Moves what the embedded store of `dataDir` has into the PostgreSQL store that the configuration names. Throws
 * `config-invalid`, `store-owned` while a daemon has the data directory, and `store-unavailable`.
 */
export async function moveStore({ store, dataDir }: Config, log: Log): ReturnType<typeof moveInto> {
  if (store.kind === 'embedded') {
    throw new DirsyncdError(
      'config-invalid',
      'There is nowhere to move to: set `store` to a postgres:// URL first, and keep `dataDir`, where the embedded store is.',
    )
  }
  if (!hasEmbeddedStore(dataDir) && lastAside(dataDir) === undefined)
    throw new DirsyncdError('usage', `There is no embedded store in ${dataDir}, so there is nothing to move.`)
  await using _owned = await acquireDataDir(dataDir, { command: COMMAND })
  try {
    await using to = await openStore(databaseOptions(store, { dataDir, command: COMMAND, log }))
    return await moveInto(to.pool, dataDir, log)
  } catch (error) {
    if (error instanceof DirsyncdError) throw error
    const said = hasEmbeddedStore(dataDir)
      ? notMoved(error)
      : isAway(error)
        ? notKnown(error)
        : unusable(error, dataDir)
    throw new DirsyncdError('store-unavailable', said, { cause: error })
  }
}

function notMoved(error: unknown): string {
  const what =
    isAway(error) || /discarded/.test(sentence(error)) ? 'the connection to PostgreSQL broke' : 'it failed'
  return `Nothing was moved, because ${what} (${sentence(error).replace(/\.$/, '')}): the embedded store is as it was.`
}

function unusable(error: unknown, dataDir: string): string {
  return (
    `The files of the move in ${lastAside(dataDir)} cannot be used (${sentence(error).replace(/\.$/, '')}), so it is not known ` +
    'whether the store was moved: restore them, and run `dirsyncd store move` again.'
  )
}

function notKnown(error: unknown): string {
  return (
    `PostgreSQL went away in the last moment (${sentence(error)}), so it is not known whether the store was moved: run ` +
    '`dirsyncd store move` again when it answers, before any daemon.'
  )
}
