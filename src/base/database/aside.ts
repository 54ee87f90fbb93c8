import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { systemCode } from '../errors.ts'

const ASIDE = 'store.moved-'

export function hasEmbeddedStore(dataDir: string): boolean {
  return existsSync(join(dataDir, 'store', 'PG_VERSION'))
}

/**
 * False where there certainly is none. A directory closed to this user may have one, and so may a dangling link: its
 * disk may not be mounted.
 */
export async function mayHaveStore(dataDir: string): Promise<boolean> {
  return stat(join(dataDir, 'store', 'PG_VERSION')).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT' || isDanglingLink(nearestPlace(dataDir)),
  )
}

export function nearestPlace(folder: string): string {
  let place = resolve(folder)
  while (!existsSync(place) && !isDanglingLink(place)) place = dirname(place)
  return place
}

export function isDanglingLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && !existsSync(path)
  } catch {
    return false
  }
}

/** Where the files go after a move to a server. */
export function newAside(dataDir: string): string {
  return join(dataDir, `${ASIDE}${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`)
}

/** Where the files are until the copy is known to be committed. */
export function movingPlace(dataDir: string): string {
  return join(dataDir, 'store.moving')
}

/** The store that is being moved, or was put aside last. */
export function lastAside(dataDir: string): string | undefined {
  const moving = movingPlace(dataDir)
  if (existsSync(moving)) return moving
  const last = namesIn(dataDir)
    .filter((name) => name.startsWith(ASIDE) && isFolder(join(dataDir, name)))
    .toSorted()
    .at(-1)
  return last && join(dataDir, last)
}

/** Empty where the folder is missing, or closed to this user, who could not open its content either. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** An operator may pack the files that were put aside. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
