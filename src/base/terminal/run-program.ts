import { type Command, CommanderError, Option } from 'commander'
import { DirsyncdError, exitCodeOf, sentence } from '../errors.ts'
import { LOG_LEVELS, type Log, type LogLevel } from '../log/log.ts'
import { ServiceManager } from '../process/service-manager.ts'
import { installShutdown } from '../process/shutdown.ts'
import { programVersion } from '../process/version.ts'
import { named } from './arguments.ts'
import { nameOf, ProgramCommand } from './command.ts'
import type { Output } from './output.ts'
import { type LoggedConfig, SessionLog } from './session-log.ts'

export interface Io {
  /** Without the program and the script. */
  readonly argv: readonly string[]
  readonly stdout: Output
  readonly stderr: Output
}

export interface BareSession {
  /** Such as `dirsyncd sync`. */
  readonly command: string
  readonly log: Log
  /** One JSON object a line instead of text. */
  readonly json: boolean
  readonly signal: AbortSignal
  /** For a long-running process, called when it starts its work. */
  readonly ready: () => void
  readonly stderr: Output
  /** Of stdout. */
  readonly isTerminal: boolean
  /** `undefined` when stdout is not a terminal. */
  readonly columns: number | undefined
  readonly print: (...lines: readonly string[]) => void
  readonly printJson: (value: unknown) => void
}

export interface RunnerOptions {
  /** A long-running process logs at the configured level, other commands log only warnings and errors. */
  readonly longRunning?: boolean
  /** Default: true. */
  readonly needsConfig?: boolean
}

/** Resolves with the exit code. */
export type Job<Session> = (session: Session) => Promise<number>

export interface Runner<Config, Extra> {
  (job: Job<BareSession & Extra & Configured<Config>>, options?: RunnerOptions): Promise<void>
  (job: Job<BareSession & Extra>, options: RunnerOptions & { readonly needsConfig: false }): Promise<void>
}

/** `readAgain` reads the same file and throws `config-invalid`. */
export interface Configured<Config> {
  readonly config: Config
  readonly readAgain: () => Promise<Config>
}

export interface Program<Config, Extra> {
  readonly create: (io: Io, run: Runner<Config, Extra>) => Command
  readonly env: Readonly<Record<string, string | undefined>>
  /** How long a signal lets requests finish, in milliseconds. */
  readonly graceMs?: number | undefined
  /** The program's additions to a session, and the way to read its configuration. */
  readonly prepare: (asked: {
    readonly file: string | undefined
    readonly json: boolean
  }) => Promise<{ readonly extra: Extra; readonly load: () => Promise<Config> }>
}

interface GlobalOptions {
  readonly config?: string
  readonly json?: boolean
  readonly logLevel?: LogLevel
}

/** Invalid usage throws a `CommanderError`; nothing here ends the process. */
export function newProgram(io: Io, name: string, configHelp: string): ProgramCommand {
  const program = new ProgramCommand(name)
  program
    .version(programVersion(), '-V, --version', 'Show the version.')
    .helpOption('-h, --help', 'Show this help.')
    .helpCommand(false)
    .option('-c, --config <file>', configHelp, named)
    .option('--json', 'Print one JSON object a line, for machines.')
    .addOption(
      new Option('--log-level <level>', 'The least important message that is logged.').choices(LOG_LEVELS),
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // `runProgram` writes the message on stderr.
      writeErr: () => undefined,
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns || 100,
    })
    .exitOverride()
  return program
}

/** Every error becomes one sentence on stderr. */
export async function runProgram<Config extends LoggedConfig, Extra>(
  io: Io,
  program: Program<Config, Extra>,
): Promise<number> {
  let exitCode = 0
  let debug = false
  let command = ''
  const commands = program.create(io, async (job, options) => {
    const globals: GlobalOptions = commands.opts()
    debug = globals.logLevel === 'debug'
    exitCode = await runJob(io, program, { ...globals, command }, { job, ...options })
  })
  commands.hook('preAction', (_program, action) => {
    command = nameOf(action)
  })
  try {
    await commands.parseAsync([...io.argv], { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error, io, debug)
  }
}

async function runJob<Config extends LoggedConfig, Extra>(
  io: Io,
  { env, graceMs, prepare }: Program<Config, Extra>,
  { command, json = false, logLevel: level, config: file }: GlobalOptions & { readonly command: string },
  { job, longRunning = false, needsConfig = true }: WantedJob<Config, Extra>,
): Promise<number> {
  using shutdown = installShutdown(graceMs)
  const { extra, load } = await prepare({ file, json })
  using log = new SessionLog({ level, json, longRunning, stderr: io.stderr })
  const readAgain = async () => log.know(await load())
  const config = needsConfig ? await readAgain() : undefined
  const sessionLog = log.open(config)
  using manager = new ServiceManager(longRunning ? env : {}, sessionLog)
  shutdown.signal.addEventListener('abort', manager.stopping, { once: true })
  const session: BareSession = {
    command,
    log: sessionLog,
    json,
    signal: shutdown.signal,
    ready: manager.ready,
    ...outputOf(io),
  }
  // Without a configuration the job takes a `BareSession`: the type `Runner` ensures it.
  return await job({ ...session, ...extra, config: config as Config, readAgain })
}

interface WantedJob<Config, Extra> extends RunnerOptions {
  readonly job: Job<BareSession & Extra & Configured<Config>>
}

function outputOf({ stdout, stderr }: Io) {
  return {
    stderr,
    isTerminal: stdout.isTTY === true,
    columns: stdout.isTTY === true ? stdout.columns || undefined : undefined,
    print: (...lines: readonly string[]) => {
      for (const line of lines) stdout.write(`${line}\n`)
    },
    printJson: (value: unknown) => {
      stdout.write(`${JSON.stringify(value)}\n`)
    },
  }
}

function report(error: unknown, io: Io, debug: boolean): number {
  if (error instanceof CommanderError) return reportUsage(error, io)
  io.stderr.write(`${sentence(error)}\n`)
  if (debug && error instanceof Error) io.stderr.write(`${error.stack ?? ''}\n`)
  return exitCodeOf(error)
}

function reportUsage(error: CommanderError, io: Io): number {
  const shown = error.code === 'commander.helpDisplayed' || error.code === 'commander.version'
  if (shown) return 0
  const usage = new DirsyncdError('usage', usageSentence(error))
  io.stderr.write(`${usage.message}\n`)
  return usage.exitCode
}

/** Commander's message without its prefix and line breaks. */
function usageSentence(error: CommanderError): string {
  const message = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
