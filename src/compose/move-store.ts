import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { DirsyncdError } from '../errors.ts'
import type { Log } from '../log.ts'
import { newAside } from '../store/aside.ts'
import { type CopiedTable, copyStore } from '../store/copy.ts'
import { openStore } from '../store/open.ts'
import { storeOptions } from './site.ts'

export interface MovedStore {
  readonly tables: readonly CopiedTable[]
  /** Where the files of the embedded store are now. */
  readonly kept: string
}

const COMMAND = 'dirsyncd store move'

/**
 * Copies what the embedded store of `dataDir` has into the PostgreSQL store that the configuration names, and puts the
 * files of the embedded one aside. Throws `config-invalid`, `store-owned` while a daemon has the data directory, and
 * `store-unavailable`.
 */
export async function moveStore({ store, dataDir }: Config, log: Log): Promise<MovedStore> {
  if (store.kind === 'embedded') {
    throw new DirsyncdError(
      'config-invalid',
      'There is nowhere to move to: set `store` to a postgres:// URL first, and keep `dataDir`, where the embedded store is.',
    )
  }
  const files = join(dataDir, 'store')
  if (!existsSync(files))
    throw new DirsyncdError('usage', `There is no embedded store in ${dataDir}, so there is nothing to move.`)
  const kept = newAside(dataDir)
  const tables = await copyAll({ store, dataDir }, log)
  await rename(files, kept)
  return { tables, kept }
}

/** Both stores are closed again when it returns. */
async function copyAll(
  { store, dataDir }: Pick<Config, 'store' | 'dataDir'>,
  log: Log,
): Promise<readonly CopiedTable[]> {
  await using from = await openStore(storeOptions({ kind: 'embedded' }, dataDir, COMMAND, log))
  await using to = await openStore(storeOptions(store, dataDir, COMMAND, log))
  return await copyStore(from.pool, to.pool)
}
