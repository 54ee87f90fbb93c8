import type * as program from '../../base/terminal/run-program.ts'
import type { SourceConfig } from '../../config/config.ts'
import type { ConfigPlace } from '../../base/yaml/load.ts'
import type { Config } from '../../config/load.ts'
import type { Control, RunView } from '../../operations/control.ts'
import type { ReloadReport } from '../../operations/reload.ts'
import type { ControlOptions } from '../../compose/control.ts'
import type { ReloadOptions } from '../../compose/reload.ts'
import type { Log } from '../../base/log/log.ts'
import type { BundleRequest, CollectedBundle } from '../../compose/bundle.ts'
import type { CheckItem, CheckRequest } from '../../operations/check.ts'
import type { InitSteps } from '../../operations/init/init.ts'
import type { TestedChannel } from '../../compose/test-notifications.ts'
import type { MovedStore } from '../../store/move.ts'
import type { Ask } from './ask.ts'
import type { Prompts } from './init/prompts.ts'

export interface Io extends program.Io {
  /** Undefined without a terminal. */
  readonly ask?: Ask | undefined
  /** As `ask`, for questions other than yes/no. */
  readonly prompts?: Prompts | undefined
}

/** Loaded when a command runs, so that `--help` stays fast. */
export interface Compose {
  readonly sourceProblem: (source: SourceConfig) => string | undefined
  readonly openControl: (config: Config, log: Log, options: ControlOptions) => Promise<Control>
  readonly collectBundle: (request: BundleRequest) => Promise<CollectedBundle>
  readonly runDaemon: (
    config: Config,
    log: Log,
    signal: AbortSignal,
    output: DaemonOutput,
    readAgain: () => Promise<Config>,
  ) => Promise<void>
  readonly runWorker: (
    config: Config,
    log: Log,
    signal: AbortSignal,
    readAgain: () => Promise<Config>,
    onReady: () => void,
  ) => Promise<void>
  readonly reload: (dataDir: string, options: ReloadOptions) => Promise<ReloadReport>
  readonly runCheck: (
    config: Config,
    log: Log,
    request: CheckRequest,
    signal: AbortSignal,
  ) => AsyncIterable<CheckItem>
  readonly testNotifications: (
    config: Config,
    only: string | undefined,
    signal: AbortSignal,
  ) => AsyncIterable<TestedChannel>
  readonly openInit: (log: Log, signal: AbortSignal) => Promise<InitSteps>
  readonly moveStore: (config: Config, log: Log) => Promise<MovedStore>
}

/** Prints one line for the operator, such as the address of the admin page. */
export type Announce = (line: string) => void

interface DaemonOutput {
  readonly announce: Announce
  /** The operator at the terminal; undefined where the output is no terminal. */
  readonly operator: string | undefined
  /** `run` holds its first changes and notices. */
  readonly onRunEnd: (run: RunView) => void
  readonly onReady: () => void
}

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
