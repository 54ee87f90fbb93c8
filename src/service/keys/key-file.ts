import { chmod, chown, link, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { DirsyncdError, sentence, systemCode } from '../../errors.ts'
import { newKeyLine, openVault, type Vault } from './vault.ts'

/** A vault whose key file may change while it is in use. */
export interface LiveVault extends Vault {
  /**
   * Takes the keys from the file as it is now, the first one to seal with. Throws `DirsyncdError('secret-unavailable')`
   * and goes on with the keys of before where the file is of no use.
   */
  reload(): Pick<Vault, 'keyId' | 'keyIds'>
}

/** Throws `DirsyncdError('secret-unavailable')`. */
export function openLiveVault(path: string): LiveVault {
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
    reload() {
      current = openVault(path)
      return current
    },
  }
}

export interface CreatedKey {
  readonly path: string
  readonly keyId: string
  /** The keys that were there before, which only open from now on. */
  readonly olderKeyIds: readonly string[]
}

/**
 * Makes a key file with one key and mode 0600, or puts a new key in front of those that a file has. What stands in
 * the file at any moment is whole: the new one takes its place at once, with the mode and owner of the old one. Throws
 * `DirsyncdError('secret-unavailable')`, also for a file that is not one of keys.
 */
export async function createKey(path: string, now: Date): Promise<CreatedKey> {
  const before = await readFile(path, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw failed(path, error)
  })
  const olderKeyIds = before === undefined ? [] : openVault(path).keyIds
  const keyId = freeId(olderKeyIds, now)
  await replaceFile(path, newKeyLine(keyId) + (before ?? ''), before !== undefined)
  return { path, keyId, olderKeyIds }
}

async function replaceFile(path: string, text: string, exists: boolean): Promise<void> {
  const draft = `${path}.new`
  await writeDraft(draft, text).catch((error: unknown) => {
    throw systemCode(error) === 'EEXIST' ? busy(path, draft, error) : failed(path, error)
  })
  try {
    if (exists) await takeModeAndOwner(path, draft)
    // Unlike a renaming, a link fails where somebody else was quicker.
    await (exists ? rename(draft, path) : link(draft, path))
  } catch (error) {
    throw failed(path, error)
  } finally {
    await rm(draft, { force: true })
  }
}

/** A key that is lost is lost data: it is on the disk before anybody uses it. */
async function writeDraft(draft: string, text: string): Promise<void> {
  await using file = await open(draft, 'wx', 0o600)
  await file.writeFile(text)
  await file.sync()
}

async function takeModeAndOwner(path: string, draft: string): Promise<void> {
  const { mode, uid, gid } = await stat(path)
  const own = await stat(draft)
  if (own.uid !== uid || own.gid !== gid) await chown(draft, uid, gid)
  await chmod(draft, mode & 0o777)
}

/** Such as `k20260131`, or `k20260131-2` for the second one of a day. */
function freeId(taken: readonly string[], now: Date): string {
  const base = `k${now.toISOString().slice(0, 10).replaceAll('-', '')}`
  let id = base
  for (let number = 2; taken.includes(id); number += 1) id = `${base}-${number}`
  return id
}

function failed(path: string, cause: unknown): DirsyncdError {
  const what = `The key file ${path} cannot be written: ${sentence(cause)}.`
  return new DirsyncdError('secret-unavailable', what, { cause })
}

function busy(path: string, draft: string, cause: unknown): DirsyncdError {
  const what = `The key file ${path} is being made by somebody else; when nobody does, remove ${draft} and try again.`
  return new DirsyncdError('secret-unavailable', what, { cause })
}
