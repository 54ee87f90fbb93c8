import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'

/** SQLite would open another user's file read-only, and lock no process out. */
export const LOCK = 'owner.lock'

/** Files that this user has to own to open the store. */
const ENTRIES: readonly string[] = [LOCK, 'store', 'store.new']

/**
 * Why root must not use the data directory, in a sentence; `undefined` for other users, and where the directory is
 * root's or missing. Its user could not open files made by root.
 */
export async function whyRootStaysOut(dir: string): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return undefined
  const place = await ownedPlace(dir)
  if (place === undefined || place.uid === 0) return undefined
  const owner = await nameOf(place.uid)
  return (
    `The data directory ${place.dir} belongs to user ${await userOf(place.uid)}, who could not open what root makes in it: run the ` +
    `command as that user, as with \`sudo -u ${owner ?? `'#${place.uid}'`} …\`.`
  )
}

/**
 * Names another user that can replace the files of a data directory, and how to prevent it; `undefined` if only root
 * and the user of this process can.
 */
export async function whoElseMayReplace(dir: string): Promise<string | undefined> {
  const { uid, mode } = await stat(dir)
  const user = process.geteuid?.()
  if (uid !== 0 && uid !== user) {
    return `user ${await userOf(uid)} owns the data directory, and can replace what is in it: run chown ${userName()} ${dir} as root`
  }
  const { S_IWOTH } = constants
  if ((mode & S_IWOTH) === 0 || (mode & STICKY) !== 0) return undefined
  return `every user may write the data directory, and so replace what is in it: run chmod o-w ${dir}`
}

const STICKY = 0o1000

/** The directory, or the data directory above it, such as the service has. */
async function ownedPlace(dir: string): Promise<{ readonly dir: string; readonly uid: number } | undefined> {
  const parent = dirname(dir)
  const place = existsSync(dir) ? dir : existsSync(join(parent, LOCK)) ? parent : undefined
  return place === undefined ? undefined : { dir: place, uid: (await stat(place)).uid }
}

/**
 * Which files of another user this one may not use, with the command that gives them to this user, as the end of a
 * sentence; `undefined` where there are none.
 */
export async function filesOfOthers(dir: string, entries = ENTRIES): Promise<string | undefined> {
  const user = process.geteuid?.()
  if (user === undefined || user === 0) return undefined
  const found = entries.flatMap((entry) => {
    const top = join(dir, entry)
    const other = firstOfOthers(top, user, statSync)
    return other === undefined ? [] : [{ top, ...other }]
  })
  const [first] = found
  if (first === undefined) return undefined
  const all = found.map(({ top }) => top).join(' ')
  return (
    `${first.path} belongs to user ${await userOf(first.uid)}; give it to the user of this process by ` +
    `\`chown -R ${userName()} ${all}\` as root.`
  )
}

/** Sequential: the thousand files of a store take a few milliseconds, and many more in parallel. */
function firstOfOthers(
  path: string,
  user: number,
  look: typeof lstatSync,
): { readonly path: string; readonly uid: number } | undefined {
  const found = look(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  const { uid } = found
  if (uid !== user && !isUsable(path, found.isDirectory())) return { path, uid }
  if (!found.isDirectory()) return undefined
  for (const name of readdirSync(path)) {
    const other = firstOfOthers(join(path, name), user, lstatSync)
    if (other !== undefined) return other
  }
  return undefined
}

/** Asks the system, because access control lists may allow what the mode does not. */
function isUsable(path: string, isDirectory: boolean): boolean {
  const { R_OK, W_OK, X_OK } = constants
  try {
    if (isDirectory) readdirSync(path)
    accessSync(path, isDirectory ? R_OK | W_OK | X_OK : R_OK | W_OK)
    return true
  } catch {
    return false
  }
}

export function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** Follows "user": the name, or `number 1000`. */
export async function userOf(uid: number): Promise<string> {
  return (await nameOf(uid)) ?? `number ${uid}`
}

async function nameOf(uid: number): Promise<string | undefined> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return users
    .split('\n')
    .map((line) => line.split(':'))
    .find(([, , id]) => id === String(uid))?.[0]
}
