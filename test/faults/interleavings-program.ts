import { runCli } from '../../src/ui/cli/run.ts'
import { createCompose } from '../../src/compose/compose.ts'
import { INTERLEAVED } from '../support/times.ts'

// The same program as `src/main.ts`, about ten times as fast, and with short leases and pauses.
const { argv, env, stdout, stderr } = process
process.exitCode = await runCli(
  { argv: argv.slice(2), stdout, stderr },
  { env, loadCompose: () => Promise.resolve(createCompose(INTERLEAVED)) },
)
