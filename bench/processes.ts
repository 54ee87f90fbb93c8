import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { LESS_MEMORY } from '../src/base/process/heap.ts'
import type { ContenderReply, ContenderRequest, Memory, Times } from './contender.ts'

const NO_MEMORY: Memory = { startBytes: 0, peakBytes: 0, loopDelay: { p999Ms: 0, maxMs: 0, gcMs: 0 } }

/** The handle of a contender in its own process. */
export interface ContenderProcess extends AsyncDisposable {
  /** Runs one repetition. */
  run(): Promise<Times>
  /** Ends the process. Resolves with its memory use. */
  close(): Promise<Memory>
}

/** A contender that stays in one process. */
export interface OneProcess extends ContenderProcess {
  /** CPU time of the process since its start, in milliseconds. */
  cpuMs(): Promise<number>
}

export interface ContenderOptions {
  /** The folder for the CPU profile of the process. */
  readonly profileDir?: string | undefined
  /** The first repetitions, whose memory is not measured and which are not in the profile. One by default. */
  readonly warmUps?: number
}

const DAEMON = { execArgv: [...LESS_MEMORY.options], env: { ...process.env, ...LESS_MEMORY.env } }

/** Starts `contenders/<name>.ts` in its own process and opens it with the task. */
export async function startContender(
  name: string,
  task: object,
  { profileDir, warmUps = 1 }: ContenderOptions = {},
): Promise<OneProcess> {
  const child = fork(new URL(`./contenders/${name}.ts`, import.meta.url), name === 'daemon' ? DAEMON : {})
  const killOnExit = () => child.kill('SIGKILL')
  process.once('exit', killOnExit)
  const kill = async () => {
    process.off('exit', killOnExit)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  try {
    await send(child, name, { open: task, profileDir, warmUps })
  } catch (error) {
    await kill()
    throw error
  }
  return {
    async run() {
      const reply = await send(child, name, { run: true })
      return 'ms' in reply ? reply : { ms: 0, cpuMs: 0 }
    },
    async cpuMs() {
      const reply = await send(child, name, { cpu: true })
      return 'cpuMs' in reply ? reply.cpuMs : 0
    },
    async close() {
      const gone = once(child, 'exit')
      const reply = await send(child, name, { close: true })
      // The child must not disconnect itself, because it could exit before its reply is read.
      child.disconnect()
      await gone
      process.off('exit', killOnExit)
      return 'memory' in reply ? reply.memory : NO_MEMORY
    },
    [Symbol.asyncDispose]: kill,
  }
}

/**
 * A contender that is opened anew for each repetition, with whatever `open` puts on the stack. Opening is not measured.
 * Its memory is the largest of all repetitions.
 */
export function openedAnew(
  open: (stack: AsyncDisposableStack) => Promise<ContenderProcess>,
): ContenderProcess {
  let memory = NO_MEMORY
  return {
    async run() {
      await using stack = new AsyncDisposableStack()
      const contender = stack.use(await open(stack))
      const times = await contender.run()
      const { startBytes, peakBytes, loopDelay } = await contender.close()
      memory = {
        startBytes: Math.max(memory.startBytes, startBytes),
        peakBytes: Math.max(memory.peakBytes, peakBytes),
        loopDelay: {
          p999Ms: Math.max(memory.loopDelay.p999Ms, loopDelay.p999Ms),
          maxMs: Math.max(memory.loopDelay.maxMs, loopDelay.maxMs),
          gcMs: Math.max(memory.loopDelay.gcMs, loopDelay.gcMs),
        },
      }
      return times
    },
    close: () => Promise.resolve(memory),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

async function send(child: ChildProcess, name: string, request: ContenderRequest): Promise<ContenderReply> {
  const ended = new AbortController()
  const onExit = (code: number | null, signal: string | null) =>
    ended.abort(new Error(`the process of ${name} ended with ${code ?? signal}`))
  child.once('exit', onExit)
  try {
    child.send(request)
    const [reply] = (await once(child, 'message', { signal: ended.signal }).catch(() => {
      throw ended.signal.reason
    })) as [ContenderReply]
    if ('failed' in reply) throw new Error(`${name}: ${reply.failed}`)
    return reply
  } finally {
    child.off('exit', onExit)
  }
}
