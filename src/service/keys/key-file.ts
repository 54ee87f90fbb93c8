import { randomBytes } from 'node:crypto'
import { chmod, chown, link, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { DirsyncdError, fileReason, systemCode, whyUnwritable } from '../../base/errors.ts'
import { newKeyLine, openVault, type Vault } from './vault.ts'

/** The key file may change while the vault is in use. */
export interface ReloadableVault extends Vault {
  /**
   * Reads the key file and encrypts with its first key from then on. Throws `DirsyncdError('secret-unavailable')` and
   * keeps the old keys where the file is unusable or `check` rejects its keys.
   */
  reload(check: (vault: Vault) => Promise<void>): Promise<Pick<Vault, 'keyId' | 'keyIds'>>
}

/** Throws `DirsyncdError('secret-unavailable')`. */
export function openReloadableVault(path: string): ReloadableVault {
  let current = openVault(path)
  return {
    get keyId() {
      return current.keyId
    },
    get keyIds() {
      return current.keyIds
    },
    has: (keyId) => current.has(keyId),
    seal: (plain, purpose) => current.seal(plain, purpose),
    open: (sealed, keyId, purpose) => current.open(sealed, keyId, purpose),
    async reload(check) {
      const next = openVault(path)
      await check(next)
      current = next
      return next
    },
  }
}

export interface CreatedKey {
  readonly path: string
  readonly keyId: string
  readonly olderKeyIds: readonly string[]
}

/**
 * Creates a key file with mode 0600, or puts a new key before those of an existing file. An existing file is replaced
 * atomically and keeps its mode and owner; a symbolic link stays, and its target is replaced. Throws
 * `DirsyncdError('secret-unavailable')`, also for a file that is not a key file.
 */
export async function createKey(name: string, now: Date): Promise<CreatedKey> {
  const path = await realpath(name).catch(() => name)
  const before = await readFile(path, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw failed(path, 'read', error)
  })
  const olderKeyIds = before === undefined ? [] : openVault(path).keyIds
  const keyId = newId(now)
  await replaceFile(path, newKeyLine(keyId) + (before ?? ''), before !== undefined)
  return { path, keyId, olderKeyIds }
}

async function replaceFile(path: string, text: string, exists: boolean): Promise<void> {
  const tempPath = `${path}.new`
  await writeTempFile(tempPath, text).catch((error: unknown) => {
    throw systemCode(error) === 'EEXIST' ? busy(path, tempPath, error) : failed(path, 'written', error)
  })
  try {
    if (exists) await takeModeAndOwner(path, tempPath)
    // Unlike `rename`, `link` fails when another process has made the file meanwhile.
    await (exists ? rename(tempPath, path) : link(tempPath, path))
  } catch (error) {
    throw failed(path, 'written', error)
  } finally {
    await rm(tempPath, { force: true })
  }
}

/** A lost key loses data, so the file is synced before the key is used. */
async function writeTempFile(tempPath: string, text: string): Promise<void> {
  await using file = await open(tempPath, 'wx', 0o600)
  await file.writeFile(text)
  await file.sync()
}

async function takeModeAndOwner(path: string, tempPath: string): Promise<void> {
  const { mode, uid, gid } = await stat(path)
  const own = await stat(tempPath)
  if (own.uid !== uid || own.gid !== gid) await chown(tempPath, uid, gid)
  await chmod(tempPath, mode & 0o777)
}

/** Such as `k20260131-3f9c2a`: two files made on one day must not have different keys with the same id. */
function newId(now: Date): string {
  return `k${now.toISOString().slice(0, 10).replaceAll('-', '')}-${randomBytes(3).toString('hex')}`
}

function failed(path: string, done: 'read' | 'written', cause: unknown): DirsyncdError {
  const why = done === 'read' ? fileReason(cause) : whyUnwritable(cause)
  const what = `The key file ${path} cannot be ${done}: ${why}; name another one.`
  return new DirsyncdError('secret-unavailable', what, { cause })
}

function busy(path: string, tempPath: string, cause: unknown): DirsyncdError {
  const what = `Another process is making the key file ${path}; if that is not so, remove ${tempPath} and try again.`
  return new DirsyncdError('secret-unavailable', what, { cause })
}
