import { runCli } from '../../src/ui/cli/run.ts'
import { createCompose } from '../../src/compose/compose.ts'
import { PATIENCE } from './patience.ts'
import { QUICK } from './times.ts'

// The same program as `src/main.ts`, with shorter times, but for that in which a busy machine has to finish.
const { argv, env, stdout, stderr } = process
process.exitCode = await runCli(
  { argv: argv.slice(2), stdout, stderr },
  { env, loadCompose: () => Promise.resolve(createCompose(QUICK)), graceMs: PATIENCE.timeout },
)
