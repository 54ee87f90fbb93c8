import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TempDir = AsyncDisposable & { readonly path: string }

/** Creates a directory; disposing it deletes it with its content: `await using dir = await tempDir()`. */
export async function tempDir(): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), 'dirsyncd-test-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}
