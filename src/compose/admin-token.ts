import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecretReader, type SecretReader } from '../config/secret.ts'

/** The token of a daemon whose configuration names none. */
export interface OwnToken {
  /** Absolute; only the user of the daemon may read it. */
  readonly file: string
  readonly token: SecretReader
}

/** The token in the data directory, which the first start makes; the process owns this directory. */
export async function ownToken(dataDir: string): Promise<OwnToken> {
  const file = join(dataDir, 'admin-token')
  if (!existsSync(file)) {
    // In one step, so that a crash leaves no empty file.
    await writeFile(`${file}.new`, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
    await rename(`${file}.new`, file)
  }
  await chmod(file, 0o600)
  const token = createSecretReader({ file }, { env: {}, folder: dataDir, option: 'admin.token' })
  return { file, token }
}
