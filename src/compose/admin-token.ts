import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync } from 'node:fs'
import { chmod, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecretReader, type SecretReader } from '../base/secrets/secret.ts'
import { DirsyncdError } from '../base/errors.ts'
import { userOf } from '../base/database/ownership.ts'

/** The token of a daemon whose configuration names none. */
export interface OwnToken {
  /** Absolute; only the user of the daemon may read it. */
  readonly file: string
  readonly token: SecretReader
}

/** The token in the data directory, which the first start makes; the process owns this directory. */
export async function ownToken(dataDir: string): Promise<OwnToken> {
  const file = join(dataDir, 'admin-token')
  for (const path of [file, `${file}.new`]) await requireOwn(path)
  if (!existsSync(file)) {
    // In one step, so that a crash leaves no empty file.
    await writeFile(`${file}.new`, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
    await rename(`${file}.new`, file)
  }
  await chmod(file, 0o600)
  const token = createSecretReader({ file }, { env: {}, folder: dataDir, option: 'admin.token' })
  return { file, token }
}

/** The token is known to the user who made the file, or a link in its place. Some file systems show root as every file's owner. */
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
