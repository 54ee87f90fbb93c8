import { runCli } from '../../src/ui/cli/run.ts'
import { createCompose } from '../../src/compose/compose.ts'
import { TIMES } from '../../src/queue/times.ts'
import { TENTH } from '../support/times.ts'

// The same program as `src/main.ts`, except that it does not wait for a quarter of an hour when the API asks for a day.
const { argv, env, stdout, stderr } = process
process.exitCode = await runCli(
  { argv: argv.slice(2), stdout, stderr },
  { env, loadCompose: () => Promise.resolve(createCompose({ ...TIMES, limited: TENTH.limited })) },
)
