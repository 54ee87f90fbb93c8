import { existsSync } from 'node:fs'
import { access, constants, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { DirsyncdError, sentence, systemCode } from '../errors.ts'
import { isDanglingLink, nearestPlace } from './aside.ts'
import { filesOfOthers, LOCK, userName, whyRootStaysOut } from './ownership.ts'
import { isCertainlyDead, processName } from './process-name.ts'

/** The `command` of a daemon. */
export const DAEMON = 'dirsyncd start'

/** Disposing it lets the next process in. */
export type DataDirOwnership = AsyncDisposable & {
  readonly dir: string
  /** The name of the last owner, where it died without releasing the directory: its leases are void. */
  readonly died: string | undefined
}

export type AcquireOptions = {
  /** This process, such as `dirsyncd start`; other processes name it in their error. */
  command?: string
  /** Milliseconds of retries; default one second, longer than many simultaneous starts collide. */
  patienceMs?: number
}

/**
 * Makes this process the only owner of a data directory, creating the directory if need be.
 *
 * SQLite's exclusive lock on `owner.lock` is a lock of the operating system: it ends with the process, however the
 * process ends, so there is nothing stale to detect by pids, boot ids or times, and it holds between containers that
 * share the directory. Nothing else may open that file in this process, since closing it would drop the lock.
 * `owner.json` beside it names the owner.
 *
 * @throws DirsyncdError `store-owned` naming the owner, `store-unavailable` when the directory cannot be used, and for
 *   root when it is another user's
 */
export async function acquireDataDir(dir: string, options: AcquireOptions = {}): Promise<DataDirOwnership> {
  await refuseRoot(dir)
  await ensureWritable(dir)
  await requireOwnLock(dir)
  const lock = await takeLock(dir, options.patienceMs ?? 1000)
  if (lock === undefined) throw new DirsyncdError('store-owned', await whoOwns(dir))
  const last = await readOwner(dir)
  try {
    await writeOwner(dir, options.command ?? 'dirsyncd')
  } catch (error) {
    lock.close()
    throw unusable(dir, error)
  }
  return {
    dir,
    died: last?.name,
    async [Symbol.asyncDispose]() {
      await rm(join(dir, 'owner.json'), { force: true })
      lock.close()
    },
  }
}

/** A starting daemon will soon answer root as well, so root waits for it. */
async function refuseRoot(dir: string): Promise<void> {
  const why = await whyRootStaysOut(dir)
  if (why === undefined) return
  const isOwned = existsSync(join(dir, LOCK)) && (await ownerOf(dir)) !== undefined
  throw isOwned
    ? new DirsyncdError('store-owned', await whoOwns(dir))
    : new DirsyncdError('store-unavailable', why)
}

/** Throws like `acquireDataDir` where the directory cannot be used or made, and makes nothing. */
export async function requireUsable(dir: string): Promise<void> {
  await refuseRoot(dir)
  try {
    await requireWritable(nearestPlace(dir))
  } catch (error) {
    throw unusable(dir, error)
  }
  await requireOwnLock(dir)
}

async function requireOwnLock(dir: string): Promise<void> {
  if ((await filesOfOthers(dir, [LOCK])) === undefined) return
  const all = await filesOfOthers(dir)
  throw new DirsyncdError('store-unavailable', `The data directory ${dir} cannot be used: ${all}`)
}

async function ensureWritable(dir: string): Promise<void> {
  try {
    await requireWritable(nearestPlace(dir))
    await makeDir(dir)
    await requireWritable(dir)
  } catch (error) {
    throw unusable(dir, error)
  }
}

async function requireWritable(folder: string): Promise<void> {
  if (isDanglingLink(folder)) throw new Error(`${folder} is a link to nothing`)
  if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is no folder`)
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
}

/** Node's recursive mkdir never ends where a file system answers "no such file" to every mkdir, as /proc does. */
async function makeDir(dir: string): Promise<void> {
  const code = await mkdirCode(dir)
  if (code !== 'ENOENT') return
  await makeDir(dirname(dir))
  await mkdir(dir, { mode: 0o700 })
}

async function mkdirCode(dir: string): Promise<string | undefined> {
  return mkdir(dir, { mode: 0o700 }).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || error.code === 'ENOENT') return error.code
      throw error
    },
  )
}

function unusable(dir: string, cause: unknown): DirsyncdError {
  const reason = sentence(cause)
  if (systemCode(cause) === 'ENOSPC' || /disk is full/i.test(reason)) {
    const what = `The disk of the data directory ${dir} is full (${reason}): free space there.`
    return new DirsyncdError('store-unavailable', what, { cause })
  }
  return new DirsyncdError(
    'store-unavailable',
    `The data directory ${dir} cannot be written by user ${userName()} (${reason}): ` +
      `${systemCode(cause) === 'EACCES' ? 'give that user the directory, or ' : ''}set dataDir to another one.`,
    { cause },
  )
}

/** Retries: simultaneous starts can refuse each other without any of them getting the lock. */
async function takeLock(dir: string, patienceMs: number): Promise<DatabaseSync | undefined> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const lock = tryLock(dir)
    if (lock !== undefined || performance.now() > deadline) return lock
    await sleep(10 + Math.random() * 40)
  }
}

function tryLock(dir: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(dir, LOCK), { timeout: 0 })
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    if (isBusy(error)) return undefined
    throw unusable(dir, error)
  }
}

const SQLITE_BUSY = 5

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

const Owner = z.object({
  name: z.string(),
  pid: z.number(),
  host: z.string(),
  since: z.string(),
  command: z.string(),
})

export type DataDirOwner = Readonly<z.infer<typeof Owner>>

/** `undefined` where the directory has no owner, or an unknown one. */
export async function ownerOf(dir: string): Promise<DataDirOwner | undefined> {
  const owner = await readOwner(dir)
  if (owner === undefined || isCertainlyDead(owner.name)) return undefined
  try {
    const lock = tryLock(dir)
    lock?.close()
    return lock === undefined ? owner : undefined
  } catch {
    // The directory belongs to another user.
    return owner
  }
}

/** `process 123 (dirsyncd sync, since 2026-01-31T23:59:00.000Z)` */
export function describeOwner({ pid, host, since, command }: DataDirOwner): string {
  const place = host === hostname() ? '' : ` on ${host}`
  return `process ${pid}${place} (${command}, since ${since})`
}

export interface OwnerInWords {
  /** Such as `process 12 (dirsyncd sync, since …)`. */
  readonly who: string
  /** A command. */
  readonly howToEnd: string
  readonly isDaemon: boolean
}

export function ownerInWords(owner: DataDirOwner): OwnerInWords {
  return { who: describeOwner(owner), howToEnd: howToEnd(owner), isDaemon: owner.command === DAEMON }
}

/** A command, or a part of a sentence for an owner on another machine. */
function howToEnd({ pid, host }: DataDirOwner): string {
  return host === hostname() ? `kill ${pid}` : `kill ${pid} on ${host}`
}

async function writeOwner(dir: string, command: string): Promise<void> {
  const owner: DataDirOwner = {
    name: processName(),
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    command,
  }
  const draft = join(dir, `owner.json.${process.pid}`)
  await writeFile(draft, JSON.stringify(owner))
  await rename(draft, join(dir, 'owner.json'))
}

async function whoOwns(dir: string): Promise<string> {
  const advice = 'Stop that process first, or set dataDir to another directory.'
  const owner = await readOwner(dir)
  if (owner === undefined) return `The data directory ${dir} is in use by another process. ${advice}`
  const { pid, host, since, command } = owner
  const who = `process ${pid} on ${host} (${command}, since ${since})`
  return `The data directory ${dir} is in use by ${who}. ${host === hostname() ? adviceOn(owner) : advice}`
}

/** With another data directory, two processes would write to the same external directory. */
function adviceOn(owner: DataDirOwner): string {
  const end = howToEnd(owner)
  return owner.command === DAEMON ? `End it first: ${end}.` : `Wait until it has ended, or end it: ${end}.`
}

async function readOwner(dir: string): Promise<DataDirOwner | undefined> {
  try {
    return Owner.parse(JSON.parse(await readFile(join(dir, 'owner.json'), 'utf8')))
  } catch {
    return undefined
  }
}
