import { environment } from '../../base/yaml/load.ts'
import { type Env } from '../../base/secrets/secret.ts'
import { type Config, loadConfig } from '../../config/load.ts'
import { runProgram } from '../../base/terminal/run-program.ts'
import type { Compose, Io, Parts } from './context.ts'
import { createProgram } from './program.ts'

/** What tests replace. */
export interface CliParts {
  readonly env: Env
  readonly loadCompose: () => Promise<Compose>
  /** How long a signal lets requests finish, in milliseconds. */
  readonly graceMs?: number
}

function processParts(): CliParts {
  return {
    env: environment(),
    loadCompose: async () => (await import('../../compose/compose.ts')).createCompose(),
  }
}

/** Every error becomes one sentence on stderr. */
export function runCli(io: Io, parts: CliParts = processParts()): Promise<number> {
  const { env, graceMs } = parts
  return runProgram<Config, Parts>(io, {
    create: createProgram,
    env,
    graceMs,
    async prepare({ file, json }) {
      const compose = await parts.loadCompose()
      const configPlace = { env, sourceProblem: compose.sourceProblem, ...(file !== undefined && { file }) }
      return {
        extra: {
          compose,
          configPlace,
          ask: json ? undefined : io.ask,
          prompts: json ? undefined : io.prompts,
        },
        load: () => loadConfig(configPlace),
      }
    },
  })
}
