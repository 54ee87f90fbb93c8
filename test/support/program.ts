import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { runCli } from '../../src/ui/cli/run.ts'
import { runAccessService, serviceParts } from '../../src/service/cli/program.ts'
import { createCompose } from '../../src/compose/compose.ts'
import { TIMES } from '../../src/queue/times.ts'
import { COMPILE_CACHE } from './compile-cache.ts'
import { isLong } from './long.ts'
import { QUICK } from './times.ts'
import type { User } from './unprivileged.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const SERVICE = fileURLToPath(new URL('../../src/service/main.ts', import.meta.url))
const QUICK_PROGRAM = fileURLToPath(new URL('quick-program.ts', import.meta.url))

export interface ProgramResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running `dirsyncd` process. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** Everything that it has printed so far, on stdout and stderr. */
  output(): string
  stdout(): string
  /** Resolves with the first match in the output; rejects when the program ends without a match. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<ProgramResult>
}

export interface ProgramOptions {
  /** `dirsyncd` if left out. */
  readonly program?: 'access-service'
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Runs `src/main.ts` with the timeouts of production, as an administrator does. */
  readonly asInProduction?: boolean
  /** Arguments of Node. */
  readonly nodeArgs?: readonly string[]
  /** What a person at the terminal answers to each question; by default there is nobody. */
  readonly answer?: boolean
  /** The user of the process, which root can start as anybody. */
  readonly user?: User
  /** Runs this file instead, such as one that starts the program with other timeouts. */
  readonly main?: string
}

/** Starts the program in its own process; disposing it kills the process. */
export function startProgram(args: readonly string[], options: ProgramOptions = {}): Program {
  const main = options.main ?? mainOf(options)
  const { nodeArgs = [] } = options
  // The kernel kills the program when the test run is killed.
  const setpriv = ['--pdeathsig', 'KILL', ...asUser(options), process.execPath, ...nodeArgs]
  const child = spawn('setpriv', [...setpriv, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment(options), NODE_COMPILE_CACHE: COMPILE_CACHE },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  })
  const text = { stdout: '', stderr: '', both: '' }
  const listeners = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk
      text.both += chunk
      for (const listener of listeners) listener()
    })
  }
  const killOnExit = () => child.kill('SIGKILL')
  process.once('exit', killOnExit)
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killOnExit)
    return { code: code as number | null, stdout: text.stdout, stderr: text.stderr }
  })
  return {
    pid: child.pid ?? 0,
    output: () => text.both,
    stdout: () => text.stdout,
    waitForOutput: (pattern) => waitFor(pattern, text, listeners, ended),
    kill: (signal) => void child.kill(signal),
    ended,
    [Symbol.asyncDispose]: () => endProgram(child, ended),
  }
}

function mainOf({ program, asInProduction }: ProgramOptions): string {
  if (program === 'access-service') return SERVICE
  return asInProduction === true || isLong() ? MAIN : QUICK_PROGRAM
}

function asUser({ user }: ProgramOptions): readonly string[] {
  if (user?.uid === undefined) return []
  return ['--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups']
}

async function endProgram(child: ChildProcess, ended: Promise<ProgramResult>): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

function waitFor(
  pattern: RegExp,
  text: { readonly both: string },
  listeners: Set<() => void>,
  ended: Promise<ProgramResult>,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const check = () => {
      const match = pattern.exec(text.both)
      if (match === null) return
      listeners.delete(check)
      resolve(match)
    }
    listeners.add(check)
    void ended.then(() => {
      check()
      reject(new Error(`ended before it printed ${pattern}:\n${text.both}`))
    })
    check()
  })
}

function environment({ env }: ProgramOptions): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env }
}

/** Runs one command to its end inside the test process, so without signals, pipes and crashes. */
export async function runCommand(
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const stdout: string[] = []
  const stderr: string[] = []
  const { answer } = options
  const env = environment(options)
  const io = {
    argv: args,
    stdout: { write: (text: string) => void stdout.push(text) },
    stderr: { write: (text: string) => void stderr.push(text) },
    ...(answer !== undefined && { ask: () => Promise.resolve(answer) }),
  }
  const code =
    options.program === 'access-service'
      ? await runAccessService(io, { env, parts: serviceParts })
      : await runCli(io, { env, loadCompose: () => Promise.resolve(createCompose(isLong() ? TIMES : QUICK)) })
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** Runs one command to its end in its own process. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  return startProgram(args, options).ended
}
