import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync } from 'node:fs'
import { chmod, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecretReader, type SecretReader } from '../base/secrets/secret.ts'
import { DirsyncdError } from '../base/errors.ts'
import { userOf } from '../base/database/ownership.ts'

/** Used where the configuration names no token. */
export interface OwnToken {
  /** Absolute; only the daemon's user may read it. */
  readonly file: string
  readonly token: SecretReader
}

/** The first start creates the token in the data directory; the caller owns this directory. */
export async function ownToken(dataDir: string): Promise<OwnToken> {
  const file = join(dataDir, 'admin-token')
  for (const path of [file, `${file}.new`]) await requireOwn(path)
  if (!existsSync(file)) {
    // Renamed into place, so that a crash leaves no empty file.
    await writeFile(`${file}.new`, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
    await rename(`${file}.new`, file)
  }
  await chmod(file, 0o600)
  const token = createSecretReader({ file }, { env: {}, folder: dataDir, option: 'admin.token' })
  return { file, token }
}

/**
 * The creator of the file or of a link in its place knows the token. Some file systems show root as every file's owner.
 */
async function requireOwn(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  const isOwn = stats.uid === 0 || stats.uid === process.geteuid?.()
  if (isOwn && stats.isFile()) return
  const what = isOwn
    ? 'is no plain file'
    : `belongs to user ${await userOf(stats.uid)} and not to the user of this process`
  throw new DirsyncdError(
    'secret-unavailable',
    `The file ${path} ${what}, so its token is not used: find out who made it, and remove it; the next start makes a new one.`,
  )
}
