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
  // A closed pipe, as in `dirsyncd runs | head`, or a closed terminal must not stop the work.
  process.stdout.on('error', ignoreClosed)
  process.stderr.on('error', ignoreClosed)
  process.on('uncaughtException', crash)
  const { runCli } = await import('./cli/run.ts')
  const { askOn } = await import('./cli/ask.ts')
  const { promptsOn } = await import('./cli/init/prompts.ts')
  const isForPerson = process.stdin.isTTY && process.stdout.isTTY
  process.exitCode = await runCli({
    argv: process.argv.slice(2),
    stdout: process.stdout,
    stderr: process.stderr,
    ask: isForPerson ? askOn({ input: process.stdin, output: process.stderr }) : undefined,
    prompts: isForPerson ? promptsOn({ input: process.stdin, output: process.stdout }) : undefined,
  })
}

/** So that no command compiles its modules again. Where the directory cannot be written, it does. */
async function keepCompiled(): Promise<void> {
  const { enableCompileCache } = await import('node:module')
  const { fileURLToPath } = await import('node:url')
  enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/dirsyncd/compiled', import.meta.url)))
}

function ignoreClosed(error: NodeJS.ErrnoException): void {
  // A terminal has no disk that could fail.
  if (error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY)) return
  throw error
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
