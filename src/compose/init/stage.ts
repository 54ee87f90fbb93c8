import { rmSync } from 'node:fs'
import {
  access,
  constants,
  link,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DirsyncdError, systemCode } from '../../errors.ts'
import type { NewFile } from './draft.ts'

/** Only whoever ran the command may read these. */
const SECRET_FILE = 0o600
const SECRET_FOLDER = 0o700
const OPEN_FILE = 0o644
const OPEN_FOLDER = 0o755

/** How a process ends whose terminal was closed. */
const HUNG_UP = 129

/** Where a configuration is put together; disposing it removes what was not placed. */
export interface Stage extends AsyncDisposable {
  /** The configuration in the stage. */
  readonly file: string
  /** For a store that only the first plan needs. */
  readonly dataDir: string
  /**
   * Moves all to where it is to be, or nothing. Returns the paths. Throws `usage` where the configuration was written by
   * somebody else meanwhile.
   */
  place(): Promise<readonly string[]>
}

/** Throws `usage` where there is a configuration already, and where none can be written. */
export async function requireNewFile(file: string): Promise<void> {
  if (await exists(file)) throw alreadyThere(file)
  const folder = await existingAbove(dirname(file))
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw notWritable(folder, error)
  }
}

function notWritable(folder: string, error: unknown): DirsyncdError {
  const isForbidden = ['EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')
  const why = isForbidden
    ? 'this user may not write there'
    : `it is no place for files (${systemCode(error)})`
  return new DirsyncdError(
    'usage',
    `The configuration cannot be written into ${folder}: ${why}; name another file with --file.`,
    { cause: error },
  )
}

function alreadyThere(file: string): DirsyncdError {
  return new DirsyncdError(
    'usage',
    `There is a configuration ${file} already, and dirsyncd init overwrites none; name another file with --file.`,
  )
}

/**
 * Writes a configuration and the files beside it into a folder of its own on the same file system, which nobody else may
 * read.
 */
export async function openStage(file: string, text: string, files: readonly NewFile[]): Promise<Stage> {
  const target = dirname(file)
  const folder = await makeFolder(await existingAbove(target))
  const name = 'dirsyncd.yaml'
  // A second Ctrl-C ends the process at once.
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  process.once('SIGHUP', endAtHangUp)
  const remove = async () => {
    await rm(folder, { recursive: true, force: true })
    process.off('exit', removeAtExit)
    process.off('SIGHUP', endAtHangUp)
  }
  try {
    for (const { path, text: content } of files) {
      const at = join(folder, path)
      await mkdir(dirname(at), { recursive: true, mode: SECRET_FOLDER })
      const mode = path.startsWith(`${SECRETS}/`) ? SECRET_FILE : OPEN_FILE
      await writeFile(at, content, { mode, flag: 'wx' })
    }
    await writeFile(join(folder, name), text, { flag: 'wx' })
  } catch (error) {
    await remove()
    throw error
  }
  const moves = files.map(({ path }) => ({ from: join(folder, path), to: join(target, path) }))
  return {
    file: join(folder, name),
    dataDir: join(folder, 'data'),
    // The configuration comes last: what it names is there then.
    place: () => placeAll([...moves, { from: join(folder, name), to: file }]),
    [Symbol.asyncDispose]: remove,
  }
}

/** A terminal that is closed would end the process without what is to be done at its exit. */
function endAtHangUp(): void {
  process.exit(HUNG_UP)
}

async function makeFolder(above: string): Promise<string> {
  try {
    return await mkdtemp(join(above, '.dirsyncd-init-'))
  } catch (error) {
    throw notWritable(above, error)
  }
}

interface Move {
  readonly from: string
  readonly to: string
}

async function placeAll(moves: readonly Move[]): Promise<readonly string[]> {
  const placed: string[] = []
  const folders: string[] = []
  try {
    for (const move of moves) {
      folders.push(...(await makeFolders(dirname(move.to))))
      await place(move)
      placed.push(move.to)
    }
    return placed
  } catch (error) {
    for (const path of placed) await unlink(path)
    for (const folder of folders.toReversed()) await rmdir(folder)
    throw error
  }
}

/** Creates what is missing of a path and returns it, the outermost first. */
async function makeFolders(path: string): Promise<readonly string[]> {
  if (await exists(path)) return []
  const above = await makeFolders(dirname(path))
  await mkdir(path, { mode: basename(path) === SECRETS ? SECRET_FOLDER : OPEN_FOLDER })
  return [...above, path]
}

/** The folder beside the configuration. */
export const SECRETS = 'secrets'

/** Never overwrites: a link to a name that exists fails. Some file systems have no links. */
async function place({ from, to }: Move): Promise<void> {
  try {
    await link(from, to)
    await unlink(from)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw alreadyThere(to)
    if (await exists(to)) throw alreadyThere(to)
    await rename(from, to)
  }
}

/** A name that no file has, such as `ldap-password-2`. */
export async function freePath(folder: string, path: string): Promise<string> {
  const [, stem = path, ending = ''] = /^(.*?)(\.\w+)?$/.exec(path) ?? []
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? path : `${stem}-${number}${ending}`
    if (!(await exists(join(folder, free)))) return free
  }
}

/**
 * The folder of the data on a machine of its own; beside the configuration where this user may not write there, or where
 * another configuration has its data.
 */
export async function usualDataDir(file: string): Promise<string> {
  const usual = '/var/lib/dirsyncd'
  return (await isFree(usual)) ? usual : join(dirname(file), 'data')
}

async function isFree(folder: string): Promise<boolean> {
  try {
    await access(await existingAbove(folder), constants.W_OK)
    return !(await exists(folder)) || (await readdir(folder)).length === 0
  } catch {
    return false
  }
}

async function existingAbove(path: string): Promise<string> {
  return (await exists(path)) ? path : existingAbove(dirname(path))
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR',
  )
}
