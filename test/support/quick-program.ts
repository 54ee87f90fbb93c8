import { runCli } from '../../src/cli/run.ts'
import { createCompose } from '../../src/compose.ts'
import { QUICK } from './times.ts'

// What `src/main.ts` runs, with shorter times.
const { argv, env, stdout, stderr } = process
process.exitCode = await runCli(
  { argv: argv.slice(2), stdout, stderr },
  { env, loadCompose: () => Promise.resolve(createCompose(QUICK)) },
)
