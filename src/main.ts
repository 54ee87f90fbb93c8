#!/usr/bin/env node
// This module imports nothing before it has looked at the version: an older Node could not even load the rest.
/** The first 24 whose TLS can be told whom to trust. */
const OLDEST_NODE = [24, 5] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  process.stderr.write(
    `dirsyncd needs Node ${OLDEST_NODE.join('.')} or newer, and this is Node ${process.versions.node}; install a newer one.\n`,
  )
  process.exitCode = 1
} else {
  const { beginWithLessMemory } = await import('./compose/heap.ts')
  beginWithLessMemory(process)
  await keepCompiled()
  const { whyUnwritable } = await import('./errors.ts')
  let isOutputLost = false
  // A closed pipe, as in `dirsyncd runs | head`, a closed terminal or a full disk must not stop the work.
  process.stdout.on('error', (error) => {
    if (isClosed(error)) return
    const why = `Standard output cannot be written: ${whyUnwritable(error)}; send it elsewhere.`
    if (!isOutputLost) process.stderr.write(`${why}\n`)
    isOutputLost = true
    process.exitCode = 1
  })
  process.stderr.on('error', (error) => {
    // Nobody can be told, and the work goes on; the log does when there is space again.
    if (!isClosed(error) && !isDiskFull(error)) throw error
  })
  process.on('uncaughtException', crash)
  const { runCli } = await import('./cli/run.ts')
  const { askOn } = await import('./cli/ask.ts')
  const { promptsOn } = await import('./cli/init/prompts.ts')
  const isForPerson = process.stdin.isTTY && process.stdout.isTTY
  const exitCode = await runCli({
    argv: process.argv.slice(2),
    stdout: process.stdout,
    stderr: process.stderr,
    ask: isForPerson ? askOn({ input: process.stdin, output: process.stderr }) : undefined,
    prompts: isForPerson ? promptsOn({ input: process.stdin, output: process.stdout }) : undefined,
  })
  process.exitCode = isOutputLost ? 1 : exitCode
}

/** So that no command compiles its modules again. Where the directory cannot be written, it does. */
async function keepCompiled(): Promise<void> {
  const { enableCompileCache } = await import('node:module')
  const { fileURLToPath } = await import('node:url')
  enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/dirsyncd/compiled', import.meta.url)))
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  // A terminal has no disk that could fail.
  return code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY)
}

function isDiskFull({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** No caller handles this error, so the state of the process is unknown and it ends. */
function crash(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  process.stderr.write(`dirsyncd stopped because of an internal error: ${message}\n`)
  if (process.argv.some((argument) => /^(--log-level=)?debug$/.test(argument))) {
    process.stderr.write(`${stack}\n`)
  }
  process.exit(1)
}
