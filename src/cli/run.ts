import { type Command, CommanderError } from 'commander'
import { type Config, environment, loadConfig, type Env } from '../config/load.ts'
import { DirsyncdError, exitCodeOf, sentence } from '../errors.ts'
import { ServiceManager } from '../service-manager.ts'
import { installShutdown } from '../shutdown.ts'
import type { BareSession, Compose, Io, Job, RunnerOptions } from './context.ts'
import { createProgram, type GlobalOptions } from './program.ts'
import { SessionLog } from './session-log.ts'

/** What tests replace. */
export interface CliParts {
  readonly env: Env
  readonly loadCompose: () => Promise<Compose>
  /** How long a signal lets work in flight finish, in milliseconds. */
  readonly graceMs?: number
}

function processParts(): CliParts {
  return { env: environment(), loadCompose: async () => (await import('../compose.ts')).createCompose() }
}

/** Runs one command and returns its exit code. Every error becomes one sentence on standard error. */
export async function runCli(io: Io, parts: CliParts = processParts()): Promise<number> {
  let exitCode = 0
  let debug = false
  let command = 'dirsyncd'
  const program = createProgram(io, async (job, options) => {
    const globals: GlobalOptions = program.opts()
    debug = globals.logLevel === 'debug'
    exitCode = await runJob(io, parts, { ...globals, command }, job, options)
  })
  program.hook('preAction', (_program, action) => {
    command = nameOf(action)
  })
  try {
    await program.parseAsync([...io.argv], { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error, io, debug)
  }
}

async function runJob(
  io: Io,
  parts: CliParts,
  globals: GlobalOptions & { readonly command: string },
  job: Job,
  options: RunnerOptions = {},
): Promise<number> {
  using shutdown = installShutdown(parts)
  const file = globals.config
  const compose = await parts.loadCompose()
  const { sourceProblem } = compose
  const configPlace = { env: parts.env, sourceProblem, ...(file !== undefined && { file }) }
  const json = globals.json === true
  const longRunning = options.longRunning === true
  using log = new SessionLog({ level: globals.logLevel, json, longRunning, stderr: io.stderr })
  const readAgain = async () => log.know(await loadConfig(configPlace))
  const config = options.needsConfig === false ? undefined : await readAgain()
  const sessionLog = log.open(config)
  using manager = new ServiceManager(longRunning ? parts.env : {}, sessionLog)
  shutdown.signal.addEventListener('abort', manager.stopping, { once: true })
  const session: BareSession = {
    command: globals.command,
    log: sessionLog,
    ready: manager.ready,
    json,
    signal: shutdown.signal,
    compose,
    configPlace,
    stderr: io.stderr,
    ask: json ? undefined : io.ask,
    prompts: json ? undefined : io.prompts,
    columns: io.stdout.isTTY === true ? io.stdout.columns || undefined : undefined,
    print: (...lines) => {
      for (const line of lines) io.stdout.write(`${line}\n`)
    },
    printJson: (value) => {
      io.stdout.write(`${JSON.stringify(value)}\n`)
    },
  }
  // Without a configuration the job takes a `BareSession`: the type `Runner` ensures it.
  return await job({ ...session, config: config as Config, readAgain })
}

/** `dirsyncd quarantine list` */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
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

/** Commander's message as one sentence: without its prefix, line breaks and full stop. */
function usageSentence(error: CommanderError): string {
  if (error.code === 'commander.help')
    return 'Name a command, such as dirsyncd sync; dirsyncd --help lists them.'
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}; see dirsyncd --help.`
}
