import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { runCli } from '../../src/cli/run.ts'
import { createCompose } from '../../src/compose.ts'
import { TIMES } from '../../src/queue/times.ts'
import { isLong } from './long.ts'
import { QUICK } from './times.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const QUICK_PROGRAM = fileURLToPath(new URL('quick-program.ts', import.meta.url))

/** Where Node keeps what it compiled. The tests start the program hundreds of times. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/dirsyncd-tests/compiled', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A `dirsyncd` that goes on running. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** Everything that it printed so far, on both streams. */
  output(): string
  stdout(): string
  /** Resolves with the match as soon as the output has one; rejects when the program ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Everything as an administrator gets it, with the times of production. */
  readonly asInProduction?: boolean
}

/** Starts the program as a process of its own; disposing it kills it. */
export function startProgram(args: readonly string[], options: ProgramOptions = {}): Program {
  const main = options.asInProduction === true || isLong() ? MAIN : QUICK_PROGRAM
  // A test run that is killed takes its programs with it.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment(options), NODE_COMPILE_CACHE: COMPILED },
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
  const dieWithUs = () => child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', dieWithUs)
    return { code: code as number | null, stdout: text.stdout, stderr: text.stderr }
  })
  return {
    pid: child.pid ?? 0,
    output: () => text.both,
    stdout: () => text.stdout,
    printed: (pattern) => waitFor(pattern, text, listeners, ended),
    kill: (signal) => void child.kill(signal),
    ended,
    [Symbol.asyncDispose]: () => endProgram(child, ended),
  }
}

async function endProgram(child: ChildProcess, ended: Promise<Ended>): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

function waitFor(
  pattern: RegExp,
  text: { readonly both: string },
  listeners: Set<() => void>,
  ended: Promise<Ended>,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = pattern.exec(text.both)
      if (match === null) return
      listeners.delete(look)
      resolve(match)
    }
    listeners.add(look)
    void ended.then(() => {
      look()
      reject(new Error(`ended before it printed ${pattern}:\n${text.both}`))
    })
    look()
  })
}

function environment({ env }: ProgramOptions): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env }
}

/** Runs one command to its end in this process. What a process does besides is left out: signals, pipes, crashes. */
export async function runCommand(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const stdout: string[] = []
  const stderr: string[] = []
  const code = await runCli(
    {
      argv: args,
      stdout: { write: (text) => void stdout.push(text) },
      stderr: { write: (text) => void stderr.push(text) },
    },
    {
      env: environment(options),
      loadCompose: () => Promise.resolve(createCompose(isLong() ? TIMES : QUICK)),
    },
  )
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** Runs one command to its end in a process of its own. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return startProgram(args, options).ended
}
