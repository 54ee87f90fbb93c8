import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { systemCode } from '../errors.ts'

const ASIDE = 'store.moved-'

/** Whether a data directory has an embedded store, to be opened or moved. */
export function hasEmbeddedStore(dataDir: string): boolean {
  return existsSync(join(dataDir, 'store', 'PG_VERSION'))
}

/**
 * False where there certainly is none. A directory that is closed to this user may have one, and so may one that a link
 * names and that is not there: its disk may not be mounted.
 */
export async function mayHaveStore(dataDir: string): Promise<boolean> {
  return stat(join(dataDir, 'store', 'PG_VERSION')).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT' || isDanglingLink(nearestPlace(dataDir)),
  )
}

/** The folder, or what there is of the way to it. */
export function nearestPlace(folder: string): string {
  let place = resolve(folder)
  while (!existsSync(place) && !isDanglingLink(place)) place = dirname(place)
  return place
}

/** Whether a path is a link that leads to nothing. */
export function isDanglingLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && !existsSync(path)
  } catch {
    return false
  }
}

/** The place for the files of an embedded store that was moved to a server. */
export function newAside(dataDir: string): string {
  return join(dataDir, `${ASIDE}${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`)
}

/** The place of the files during a move, until it is known that their copy was committed. */
export function movingPlace(dataDir: string): string {
  return join(dataDir, 'store.moving')
}

/** The embedded store of a data directory that is being moved, or was put aside last. */
export function lastAside(dataDir: string): string | undefined {
  const moving = movingPlace(dataDir)
  if (existsSync(moving)) return moving
  const last = namesIn(dataDir)
    .filter((name) => name.startsWith(ASIDE))
    .toSorted()
    .at(-1)
  return last && join(dataDir, last)
}

/** Nothing where the folder is not there, or is closed to this user, who could not open what it has either. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
