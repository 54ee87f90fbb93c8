import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import {
  access,
  constants,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { whyAllMayWrite } from '../../base/yaml/trust.ts'
import { DirsyncdError, systemCode, whyUnwritable } from '../../base/errors.ts'
import { LOCK } from '../../base/database/ownership.ts'
import { isCertainlyDead, processName } from '../../base/database/process-name.ts'
import type { NewFile } from './draft.ts'

const SECRET_FILE = 0o600
const SECRET_FOLDER = 0o700
const OPEN_FILE = 0o644
const OPEN_FOLDER = 0o755

/** Disposing the stage removes what was not placed. */
export interface Stage extends AsyncDisposable {
  readonly file: string
  readonly dataDir: string
  /** Moves all files or none. Throws `usage` if another process wrote the configuration meanwhile. */
  place(): Promise<readonly string[]>
}

/** Throws `usage` where the configuration exists or cannot be written. Removes the files of a killed process. */
export async function requireNewFile(file: string): Promise<void> {
  if (await exists(file)) throw alreadyThere(file)
  const folder = await existingAbove(dirname(file))
  try {
    await removeLeft(folder)
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw notWritable(folder, error)
  }
  const why = folder === dirname(file) ? whyAllMayWrite(folder) : undefined
  if (why === undefined) return
  throw new DirsyncdError(
    'usage',
    `A configuration in ${folder} would not be used: ${why}, or name another file with --file.`,
  )
}

/** Reasons about a folder; for other codes those about a file are right. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOTDIR', 'it is a file and no folder'],
  ['ENOENT', 'it is no place for files'],
])

function notWritable(folder: string, error: unknown): unknown {
  const code = systemCode(error)
  if (code === undefined || error instanceof DirsyncdError) return error
  const why = REASONS.get(code) ?? whyUnwritable(error)
  return new DirsyncdError(
    'usage',
    `The configuration cannot be written into ${folder}: ${why}; name another file with --file.`,
    { cause: error },
  )
}

function alreadyThere(file: string): DirsyncdError {
  return new DirsyncdError(
    'usage',
    `There is a file ${file} already, and dirsyncd init overwrites none; name another configuration with --file.`,
  )
}

function justWritten(file: string): DirsyncdError {
  return new DirsyncdError(
    'usage',
    `Somebody has just written ${file}, such as another dirsyncd init, and dirsyncd init overwrites no file; name another configuration with --file.`,
  )
}

/** Writes the files into a private folder on the file system of the configuration. */
export async function openStage(file: string, text: string, files: readonly NewFile[]): Promise<Stage> {
  const target = dirname(file)
  const above = await existingAbove(target)
  const folder = await makeFolder(above)
  const name = 'dirsyncd.yaml'
  // A second Ctrl-C ends the process at once.
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  const remove = async () => {
    await rm(folder, { recursive: true, force: true })
    process.off('exit', removeAtExit)
  }
  try {
    await writeFile(join(folder, OWNER), processName())
    for (const { path, text: content } of files) {
      const at = join(folder, path)
      await mkdir(dirname(at), { recursive: true, mode: SECRET_FOLDER })
      const mode = path.startsWith(`${SECRETS}/`) ? SECRET_FILE : OPEN_FILE
      await writeFile(at, content, { mode, flag: 'wx' })
    }
    await writeFile(join(folder, name), text, { mode: OPEN_FILE, flag: 'wx' })
  } catch (error) {
    await remove()
    throw notWritable(above, error)
  }
  const moves = files.map(({ path }) => ({ from: join(folder, path), to: join(target, path) }))
  return {
    file: join(folder, name),
    dataDir: join(folder, 'data'),
    // The configuration comes last, so that the files that it names exist then.
    place: () => placeAll([...moves, { from: join(folder, name), to: file }]),
    [Symbol.asyncDispose]: remove,
  }
}

const STAGE = '.dirsyncd-init-'

const OWNER = 'owner'

/** Removes the stages, and their secrets, of killed processes. */
async function removeLeft(above: string): Promise<void> {
  for (const name of await readdir(above)) {
    if (!name.startsWith(STAGE)) continue
    const folder = join(above, name)
    const owner = await readFile(join(folder, OWNER), 'utf8').catch(() => '')
    if (isCertainlyDead(owner)) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function makeFolder(above: string): Promise<string> {
  try {
    return await mkdtemp(join(above, STAGE))
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
    // Another program may have put files there.
    for (const folder of folders.toReversed()) await rmdir(folder).catch(() => undefined)
    throw notWritable(dirname(moves.at(-1)?.to ?? ''), error)
  }
}

/** Returns the new folders, the outermost first. */
async function makeFolders(path: string): Promise<readonly string[]> {
  if (await exists(path)) return []
  const above = await makeFolders(dirname(path))
  try {
    await mkdir(path, { mode: basename(path) === SECRETS ? SECRET_FOLDER : OPEN_FOLDER })
  } catch (error) {
    // Another process has just made it.
    if (systemCode(error) === 'EEXIST') return above
    throw error
  }
  return [...above, path]
}

export const SECRETS = 'secrets'

/** Never overwrites: a link to an existing name fails. Some file systems have no links. */
async function place({ from, to }: Move): Promise<void> {
  try {
    await link(from, to)
    await unlink(from)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw justWritten(to)
    if (await exists(to)) throw justWritten(to)
    await rename(from, to)
  }
}

/** A free name, such as `ldap-password-2`. */
export async function freePath(folder: string, path: string): Promise<string> {
  const [, stem = path, ending = ''] = /^(.*?)(\.\w+)?$/.exec(path) ?? []
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? path : `${stem}-${number}${ending}`
    if (!(await exists(join(folder, free)))) return free
  }
}

/** A new configuration in the data folder of another one would continue its runs. */
export function dataDirProblem(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined
  if (!statSync(folder).isDirectory()) return 'must be a folder, and this is a file'
  if (existsSync(join(folder, LOCK)))
    return 'must be another folder: this one has the data of another configuration'
  return readdirSync(folder).length === 0 ? undefined : 'must be a new or an empty folder'
}

/** A folder beside the configuration where the system's one is not writable or is in use. */
export async function usualDataDir(file: string): Promise<string> {
  const usual = '/var/lib/dirsyncd'
  return (await isFree(usual)) ? usual : join(dirname(file), await freePath(dirname(file), 'data'))
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
  return lstat(path).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR',
  )
}
