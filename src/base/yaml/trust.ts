import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs'
import { delimiter, dirname, resolve } from 'node:path'
import { systemCode } from '../errors.ts'
import type { Env } from '../secrets/secret.ts'

/**
 * How a configuration was found. A configuration can run programs, so only root and this user may be able to change or
 * replace one that was searched for, and its programs. What an operator names is refused only if every user may write
 * it or its folder.
 */
export type Trust = 'named' | 'searched'

/** `undefined` if the file is trusted, or does not exist. */
export function whyUntrusted(file: string, trust: Trust): string | undefined {
  if (!canBeReached(file)) return undefined
  return trust === 'searched' ? whyOthersDecide(resolve(file)) : whyAllDecide(resolve(file))
}

/** `program` is a path, or a name that is looked up on PATH as the system does it. */
export function whyUntrustedProgram(
  program: string,
  { folder, env, trust }: { readonly folder: string; readonly env: Env; readonly trust: Trust },
): string | undefined {
  const file = program.includes('/') ? resolve(folder, program) : onPath(program, folder, env['PATH'])
  const why = file === undefined ? undefined : whyUntrusted(file, trust)
  return why === undefined ? undefined : `the program must not be run: ${why}`
}

/** Folders further above are not checked, because a checkout may be anywhere. */
function whyAllDecide(path: string): string | undefined {
  const real = realPath(path)
  if (real === undefined) return undefined
  return whyAllMayWrite(dirname(path)) ?? whyAllMayWrite(dirname(real)) ?? whyAllMayWrite(real)
}

/** `undefined` for a pipe that the caller has opened, such as `<(…)` of a shell, which cannot be replaced. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Write access to a folder or a link on the way to the file replaces the file. */
function whyOthersDecide(path: string): string | undefined {
  const folder = dirname(path)
  const above = folder === path ? undefined : whyOthersDecide(folder)
  if (above !== undefined) return above
  const stats = lstatSync(path)
  const user = process.geteuid?.()
  if (user !== undefined && stats.uid !== 0 && stats.uid !== user)
    return `user ${stats.uid} owns ${path}, not root or the user of this command; run the command as that user`
  if (stats.isSymbolicLink()) return whyOthersDecide(resolve(realpathSync(folder), readlinkSync(path)))
  if (isProtected(path, stats)) return undefined
  const why = whyAllMayWrite(path)
  return why === undefined && isWritableByGroup(stats)
    ? `others may write ${path}; run chmod go-w ${path}`
    : why
}

export function whyAllMayWrite(path: string): string | undefined {
  const stats = statSync(path)
  if ((stats.mode & constants.S_IWOTH) === 0 || isProtected(path, stats)) return undefined
  const replaces = stats.isDirectory() ? ', and so replace what is in it' : ''
  return `every user may write ${path}${replaces}; run chmod o-w ${path}`
}

/**
 * The sticky bit of a folder protects the files of other users. Containers mount configurations read-only, in folders
 * that all may write by their mode.
 */
function isProtected(path: string, stats: Stats): boolean {
  return stats.isDirectory() && ((stats.mode & STICKY) !== 0 || isReadOnly(path))
}

/**
 * A group with the number of the owner is the owner's private one: where such groups are usual, the umask lets them
 * write. Root's is none of these: write access there comes from an access control list.
 */
function isWritableByGroup({ mode, uid, gid }: Stats): boolean {
  return (mode & constants.S_IWGRP) !== 0 && (gid !== uid || uid === 0)
}

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return false
  } catch (error) {
    return systemCode(error) === 'EROFS'
  }
}

const STICKY = 0o1000

function onPath(program: string, folder: string, path = '/usr/bin:/bin'): string | undefined {
  return path
    .split(delimiter)
    .map((each) => resolve(folder, each, program))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** A file that cannot be reached cannot be used, and using it gives the reason. */
function canBeReached(file: string): boolean {
  try {
    statSync(file)
    return true
  } catch {
    return false
  }
}
