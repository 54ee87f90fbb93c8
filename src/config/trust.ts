import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs'
import { delimiter, dirname, resolve } from 'node:path'
import type { Env } from './secret.ts'

/**
 * How a configuration was found. A configuration can run programs, so one that was searched for, and the programs that it
 * names, must be of root or of this user, and nobody else may be able to change or replace them. A file that an operator
 * names is refused only if every user may write it.
 */
export type Trust = 'named' | 'searched'

/** Why a configuration, or a program that it names, must not be used; `undefined` if it may, or does not exist. */
export function whyUntrusted(file: string, trust: Trust): string | undefined {
  const stats = statOf(file)
  if (stats === undefined) return undefined
  if ((stats.mode & constants.S_IWOTH) !== 0) return `every user may write ${file}; run chmod o-w ${file}`
  return trust === 'named' ? undefined : whyOthersDecide(resolve(file))
}

/** The same for the program of a command: a path, or a name that is looked up on PATH as the system does it. */
export function whyUntrustedProgram(
  program: string,
  { folder, env, trust }: { readonly folder: string; readonly env: Env; readonly trust: Trust },
): string | undefined {
  const file = program.includes('/') ? resolve(folder, program) : onPath(program, folder, env['PATH'])
  const why = file === undefined ? undefined : whyUntrusted(file, trust)
  return why === undefined ? undefined : `the program must not be run: ${why}`
}

/** Write access to a folder or a link on the way to the file replaces the file. */
function whyOthersDecide(path: string): string | undefined {
  const folder = dirname(path)
  const above = folder === path ? undefined : whyOthersDecide(folder)
  if (above !== undefined) return above
  const stats = lstatSync(path)
  const user = process.geteuid?.()
  if (user !== undefined && stats.uid !== 0 && stats.uid !== user)
    return `user ${stats.uid} owns ${path}, not root or the user of this command; run the command as that user, or name the configuration with --config`
  if (stats.isSymbolicLink()) return whyOthersDecide(resolve(realpathSync(folder), readlinkSync(path)))
  return isWritableByOthers(stats)
    ? `others may write ${path}; run chmod go-w ${path}, or name the configuration with --config`
    : undefined
}

/**
 * In a folder with the sticky bit nobody can replace what others own. A group with the number of the owner is the owner's
 * private one: where such groups are usual, the umask lets them write.
 */
function isWritableByOthers(stats: Stats): boolean {
  if (stats.isDirectory() && (stats.mode & STICKY) !== 0) return false
  const others = stats.gid === stats.uid ? constants.S_IWOTH : constants.S_IWOTH | constants.S_IWGRP
  return (stats.mode & others) !== 0
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

/** What cannot be reached cannot be used either, and using it says why. */
function statOf(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}
