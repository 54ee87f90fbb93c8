// Only types are imported before the version check: an older Node could not even load the rest.
import type { Io } from '../terminal/run-program.ts'

/** The first 24 with a TLS setting for trusted authorities. */
const OLDEST_NODE = [24, 5] as const

/** Sets the process's exit code. */
export async function startProgram(name: string, run: (io: Io) => Promise<number>): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    process.stderr.write(
      `${name} needs Node ${OLDEST_NODE.join('.')} or newer, and this is Node ${process.versions.node}; install a newer one.\n`,
    )
    process.exitCode = 1
    return
  }
  const { beginWithLessMemory } = await import('./heap.ts')
  beginWithLessMemory(process)
  await keepCompiled()
  const output = await watchOutput()
  process.on('uncaughtException', (error) => crash(name, error))
  const { stdout, stderr, argv } = process
  const exitCode = await run({ argv: argv.slice(2), stdout, stderr })
  process.exitCode = output.isLost ? 1 : exitCode
}

/** A closed pipe, as in `dirsyncd runs | head`, a closed terminal or a full disk must not stop the work. */
async function watchOutput(): Promise<{ isLost: boolean }> {
  const { whyUnwritable } = await import('../errors.ts')
  const output = { isLost: false }
  process.stdout.on('error', (error) => {
    if (isClosed(error)) return
    const why = `Standard output cannot be written: ${whyUnwritable(error)}; send it elsewhere.`
    if (!output.isLost) process.stderr.write(`${why}\n`)
    output.isLost = true
    process.exitCode = 1
  })
  process.stderr.on('error', (error) => {
    // No output is possible, and the work continues; the log resumes when there is space again.
    if (!isClosed(error) && !isDiskFull(error)) throw error
  })
  return output
}

/** Caches compiled modules between commands. An unwritable directory only disables the cache. */
async function keepCompiled(): Promise<void> {
  const { enableCompileCache } = await import('node:module')
  const { fileURLToPath } = await import('node:url')
  enableCompileCache(
    fileURLToPath(new URL('../../../node_modules/.cache/dirsyncd/compiled', import.meta.url)),
  )
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  // A terminal has no disk that could fail.
  return code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY)
}

function isDiskFull({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** No caller handles this error, so the state of the process is unknown and it ends. */
function crash(name: string, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  process.stderr.write(`${name} stopped because of an internal error: ${message}\n`)
  if (process.argv.some((argument) => /^(--log-level=)?debug$/.test(argument))) {
    process.stderr.write(`${stack}\n`)
  }
  process.exit(1)
}
