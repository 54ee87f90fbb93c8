import { fileURLToPath } from 'node:url'

/** Where Node.js keeps the modules that it has compiled: the tests start programs and threads by the hundreds. */
export const COMPILE_CACHE = fileURLToPath(
  new URL('../../node_modules/.cache/dirsyncd-tests/compiled', import.meta.url),
)

/**
 * Has the tests and their threads use the compile cache, because each thread that renews a lease would strip the types
 * of its modules again. Call it before the first worker starts.
 */
export function keepCompiled(): void {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE
}
