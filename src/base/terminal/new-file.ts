import { open, rm } from 'node:fs/promises'
import { DirsyncdError, systemCode, whyUnwritable } from '../errors.ts'

/** These are wrong usage; a folder or a disk that refuses a file is not. */
const WRONG_PATH: ReadonlySet<string | undefined> = new Set(['EEXIST', 'ENOENT', 'ENOTDIR', 'EISDIR'])

/**
 * The file, readable by this user only, is created before its content is made, so that nothing is made that cannot be
 * stored.
 *
 * @param what how the sentence begins when that fails, such as `The token cannot be written into /tmp/token`
 */
export async function writeNewFile<T>(
  { path, what }: { readonly path: string; readonly what: string },
  make: () => Promise<T>,
  textOf: (made: T) => string,
): Promise<T> {
  const refuse = (error: unknown) => {
    throw notWritten(what, error)
  }
  const file = await open(path, 'wx', 0o600).catch(refuse)
  try {
    const made = await make()
    await file.writeFile(textOf(made)).catch(refuse)
    await file.sync().catch(refuse)
    return made
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

function notWritten(what: string, cause: unknown): DirsyncdError {
  const code = systemCode(cause)
  const why = code === 'EEXIST' ? 'it exists; remove it or' : `${whyUnwritable(cause)};`
  return new DirsyncdError('usage', `${what}: ${why} name another one.`, {
    cause,
    ...(!WRONG_PATH.has(code) && { exitCode: 1 }),
  })
}
