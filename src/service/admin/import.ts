import { DirsyncdError } from '../../errors.ts'
import { type FixtureResult, loadFixture } from '../fixture/load.ts'
import type { AdminDeps } from './deps.ts'

/** Creates and changes what the file describes. Throws `config-invalid`, which names the file. */
export async function importFixture(
  { pool, writeContext }: AdminDeps,
  { path, content }: { readonly path: string; readonly content?: unknown },
): Promise<FixtureResult> {
  const context = await writeContext()
  try {
    return await loadFixture(pool, content, { path, existing: 'complete', ...context })
  } catch (error) {
    // What a command would get wrong, the file has wrong.
    if (!(error instanceof DirsyncdError && (error.code === 'usage' || error.code === 'id-unknown')))
      throw error
    throw new DirsyncdError('config-invalid', `The file ${path} cannot be used: ${error.message}`, {
      cause: error,
    })
  }
}
