import type * as program from '../../base/terminal/run-program.ts'
import type { createCompose } from '../../compose/compose.ts'
import type { ConfigPlace } from '../../base/yaml/load.ts'
import type { Config } from '../../config/load.ts'
import type { Ask } from './ask.ts'
import type { Prompts } from './init/prompts.ts'

export interface Io extends program.Io {
  /** Undefined without a terminal. */
  readonly ask?: Ask | undefined
  /** As `ask`, for questions other than yes/no. */
  readonly prompts?: Prompts | undefined
}

/** Its modules are loaded when a command runs, so that `--help` stays fast. */
export type Compose = ReturnType<typeof createCompose>

export type Announce = (line: string) => void

export interface Parts {
  readonly compose: Compose
  /** For a command that also works with an invalid configuration. */
  readonly configPlace: ConfigPlace
  /** Undefined without a terminal and with `--json`. */
  readonly ask: Ask | undefined
  readonly prompts: Prompts | undefined
}

export type BareSession = program.BareSession & Parts
export type Session = BareSession & program.Configured<Config>
export type Runner = program.Runner<Config, Parts>
