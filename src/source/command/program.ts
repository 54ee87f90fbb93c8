import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { DirsyncdError, type ErrorCode, systemCode } from '../../base/errors.ts'
import { interruption } from '../interruption.ts'
import type { CommandSourceOptions } from './options.ts'
import { createTail } from './tail.ts'

/** The time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 3000

export function commandError(
  options: Pick<CommandSourceOptions, 'command'>,
  why: string,
  code: ErrorCode = 'source-incomplete',
): DirsyncdError {
  return new DirsyncdError(code, `The command "${nameOf(options)}" cannot be used as a source: ${why}`)
}

/** Without folder and arguments. */
export function nameOf({ command }: Pick<CommandSourceOptions, 'command'>): string {
  return basename(command[0] ?? '')
}

/**
 * Runs the program in its own process group, without a shell and without input, and passes its output to `read`.
 * Resolves with the result of `read` after exit code 0. Rejects with a `DirsyncdError` when the program cannot be
 * started, takes too long, is interrupted or ends in any other way, or when `read` rejects; then no process of the
 * group is left.
 */
export async function runProgram<T>(
  options: CommandSourceOptions,
  signal: AbortSignal,
  read: (output: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw interruption(signal, `interrupted before the command "${nameOf(options)}" ran`)
  const environment = options.environment()
  const child = await start(options, environment)
  using monitored = monitor(child, options.timeoutMs, signal)
  const said = createTail(child.stderr, secretsOf(options, environment))
  const [result] = await Promise.allSettled([read(child.stdout)])
  if (!child.stdout.readableEnded) monitored.end()
  const ending = await monitored.closed
  const why = exitProblem(options, { ending, stopped: monitored.stopped(), said })
  if (why !== undefined || result.status === 'rejected') monitored.end()
  if (signal.aborted) throw interruption(signal, `interrupted while the command "${nameOf(options)}" ran`)
  if (why !== undefined) throw why
  if (result.status === 'rejected') throw result.reason
  return result.value
}

type Started = ChildProcessByStdio<null, Readable, Readable>

async function start(
  options: CommandSourceOptions,
  environment: Readonly<Record<string, string>>,
): Promise<Started> {
  const [program = '', ...args] = options.command
  try {
    const child = spawn(program, args, {
      cwd: options.folder,
      env: { ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    if (child.pid !== undefined) return child
    // A program that could not be started has no process, perhaps no pipes, and reports the reason as an event.
    const [error] = await once(child, 'error', { signal: AbortSignal.timeout(GRACE_MS) })
    throw error
  } catch (error) {
    throw commandError(options, startProblem(error), 'source-unreachable')
  }
}

export function secretsOf(
  { secretNames }: Pick<CommandSourceOptions, 'secretNames'>,
  environment: Readonly<Record<string, string>>,
): string[] {
  return secretNames.flatMap((name) => environment[name] ?? [])
}

interface Ending {
  readonly error: unknown
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

type Stopped = 'no' | 'timeout' | 'enough'

interface ChildMonitor extends Disposable {
  readonly closed: Promise<Ending>
  stopped(): Stopped
  end(): void
}

/** Ends the process group after the timeout or when `signal` is aborted: first SIGTERM, then SIGKILL. */
function monitor(child: ChildProcess, timeoutMs: number, signal: AbortSignal): ChildMonitor {
  let stopped: Stopped = 'no'
  let killer: NodeJS.Timeout | undefined

  function end(why: 'timeout' | 'enough'): void {
    if (stopped !== 'no') return
    stopped = why
    signalGroup(child, 'SIGTERM')
    killer = setTimeout(kill, GRACE_MS)
  }
  function kill(): void {
    signalGroup(child, 'SIGKILL')
    // A process that left the group may hold the pipes open for ever.
    child.stdout?.destroy()
    child.stderr?.destroy()
    process.off('exit', kill)
  }
  const onAbort = () => end('enough')
  const timer = setTimeout(() => end('timeout'), timeoutMs)
  signal.addEventListener('abort', onAbort)
  process.on('exit', kill)
  return {
    closed: endingOf(child),
    stopped: () => stopped,
    end: () => end('enough'),
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      // Processes that the program started may still need the time until SIGKILL.
      if (killer !== undefined && signalGroup(child, 0)) return
      clearTimeout(killer)
      process.off('exit', kill)
    },
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false
  try {
    return process.kill(-child.pid, signal)
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
    return false
  }
}

function endingOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    let error: unknown
    child.on('error', (thrown) => {
      error = thrown
    })
    child.on('close', (code, signal) => resolve({ error, code, signal }))
  })
}

function exitProblem(
  options: CommandSourceOptions,
  { ending, stopped, said }: { ending: Ending; stopped: Stopped; said: () => string },
): DirsyncdError | undefined {
  if (ending.error !== undefined)
    return commandError(options, startProblem(ending.error), 'source-unreachable')
  if (stopped === 'timeout')
    return commandError(options, `it did not end within ${options.timeoutMs / 1000} s${said()}`)
  if (stopped === 'enough' || ending.code === 0) return undefined
  const how = ending.code === null ? `was ended by ${ending.signal}` : `ended with exit code ${ending.code}`
  return commandError(options, `it ${how}${said()}`)
}

function startProblem(error: unknown): string {
  const code = systemCode(error)
  if (code === 'ENOENT')
    return 'it was not found; give its full path, and check that the interpreter in its first line exists'
  if (code === 'EACCES') return 'it may not be run by this user; is it executable?'
  if (code === 'ENOTDIR') return 'a part of its path is not a folder'
  if (code === 'ENAMETOOLONG') return 'its path is too long'
  if (code === 'E2BIG') return 'its arguments and its environment are too long'
  // Node's message shows the value, which may be a secret.
  if (code === 'ERR_INVALID_ARG_VALUE') return 'an argument or a value of its environment has a NUL character'
  return `it could not be started (${code ?? 'unknown error'})`
}
