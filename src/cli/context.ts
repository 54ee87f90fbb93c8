import type { SourceConfig } from '../config/config.ts'
import type { Config, ConfigPlace } from '../config/load.ts'
import type { Control, RunView } from '../control/control.ts'
import type { ReloadReport } from '../control/reload.ts'
import type { ControlOptions } from '../compose/control.ts'
import type { ReloadOptions } from '../compose/reload.ts'
import type { Log } from '../log.ts'
import type { CollectedBundle } from '../compose/bundle.ts'
import type { ContractRequest, ContractStep } from '../compose/api-contract.ts'
import type { CheckItem, CheckRequest } from '../compose/check.ts'
import type { InitSteps } from '../compose/init.ts'
import type { TestedChannel } from '../compose/test-notifications.ts'
import type { MovedStore } from '../compose/move-store.ts'
import type { CreatedKey, ServiceAdmin } from '../compose/service-admin.ts'
import type { Ask } from './ask.ts'
import type { Prompts } from './init/prompts.ts'

/** A stream that a command prints to. */
export interface Output {
  write(text: string): void
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** What the process passes to the command line. */
export interface Io {
  /** Without the program and the script. */
  readonly argv: readonly string[]
  readonly stdout: Output
  readonly stderr: Output
  /** Where a person can answer questions. */
  readonly ask?: Ask | undefined
  /** As `ask`, for other questions than those of yes and no. */
  readonly prompts?: Prompts | undefined
}

/** What `compose.ts` offers to commands. It is loaded when a command runs, so `--help` does not load it. */
export interface Compose {
  readonly sourceProblem: (source: SourceConfig) => string | undefined
  readonly openControl: (config: Config, log: Log, options: ControlOptions) => Promise<Control>
  readonly collectBundle: (place: ConfigPlace, log: Log) => Promise<CollectedBundle>
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
  /** Has the daemon of this data directory read its file again. */
  readonly reload: (dataDir: string, options: ReloadOptions) => Promise<ReloadReport>
  readonly runService: (
    config: Config,
    log: Log,
    signal: AbortSignal,
    out: Announce,
    onReady: () => void,
  ) => Promise<void>
  readonly openServiceAdmin: (config: Config, log: Log) => Promise<ServiceAdmin>
  readonly createServiceKey: (path: string) => Promise<CreatedKey>
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
  /** The steps of `dirsyncd init`. */
  readonly openInit: (log: Log, signal: AbortSignal) => Promise<InitSteps>
  readonly moveStore: (config: Config, log: Log) => Promise<MovedStore>
  readonly runApiContract: (
    config: Config,
    log: Log,
    request: ContractRequest,
    signal: AbortSignal,
  ) => AsyncIterable<ContractStep>
}

/** Prints one line for a person, such as where the admin page is. */
export type Announce = (line: string) => void

/** What a daemon prints for the person who started it. */
interface DaemonOutput {
  readonly announce: Announce
  /** The operator at the terminal; undefined where the output is no terminal. */
  readonly operator: string | undefined
  /** A run has ended; `run` holds its first changes and notices. */
  readonly onRunEnd: (run: RunView) => void
  /** Everything is open, and runs are made. */
  readonly onReady: () => void
}

/** What every command may use. */
export interface BareSession {
  /** Such as `dirsyncd sync`. */
  readonly command: string
  readonly log: Log
  /** One JSON object a line instead of text for people. */
  readonly json: boolean
  readonly signal: AbortSignal
  /** To be called when a long-running process does its work from now on. */
  readonly ready: () => void
  readonly compose: Compose
  /** For a command that works with a wrong configuration too. */
  readonly configPlace: ConfigPlace
  readonly stderr: Output
  /** Asks the person at the terminal; `undefined` where there is nobody, and where the output is for machines. */
  readonly ask: Ask | undefined
  readonly prompts: Prompts | undefined
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  /** How many columns the terminal has; `undefined` when standard output is not a terminal. */
  readonly columns: number | undefined
  /** Prints lines to standard output. */
  readonly print: (...lines: readonly string[]) => void
  readonly printJson: (value: unknown) => void
}

/** What a command may use that reads a configuration; nearly all do. */
export interface Session extends BareSession {
  readonly config: Config
  /** Reads and checks the configuration again, from the same file. Throws `config-invalid`. */
  readonly readAgain: () => Promise<Config>
}

/** Does the command's work and gives the exit code. */
export type Job = (session: Session) => Promise<number>
export type BareJob = (session: BareSession) => Promise<number>

/** Runs the job of a command. `run.ts` creates the runner, and `program.ts` passes it to the commands. */
export interface Runner {
  (job: Job, options?: RunnerOptions): Promise<void>
  (job: BareJob, options: RunnerOptions & { readonly needsConfig: false }): Promise<void>
}

export interface RunnerOptions {
  /** A long-running process logs at the configured level, other commands log only warnings and errors. */
  readonly longRunning?: boolean
  /** False when the command reads no configuration. Default: true. */
  readonly needsConfig?: boolean
}
