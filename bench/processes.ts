import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { LESS_MEMORY } from '../src/base/process/heap.ts'
import type { ContenderReply, ContenderRequest, Times, Usage } from './contender.ts'

/** One side of a comparison. */
export interface Side {
  /** Runs one repetition. */
  run(): Promise<Times>
  /** Ends the process. Resolves with what it used. */
  close(): Promise<Usage>
}

/** The handle of a contender in its own process. */
export interface ContenderProcess extends Side, AsyncDisposable {
  /** Lets the process do nothing for so long. */
  idle(ms: number): Promise<Times>
}

const DAEMON = { execArgv: [...LESS_MEMORY.options], env: { ...process.env, ...LESS_MEMORY.env } }

/**
 * Starts `contenders/<name>.ts` in its own process and opens it with the task.
 *
 * @param warmUps the first repetitions, whose memory is not measured
 */
export async function startContender(name: string, task: object, warmUps = 1): Promise<ContenderProcess> {
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
    await send(child, name, { open: task, warmUps })
  } catch (error) {
    await kill()
    throw error
  }
  return {
    run: () => send<Times>(child, name, { run: true }),
    idle: (ms) => send<Times>(child, name, { idleMs: ms }),
    async close() {
      const gone = once(child, 'exit')
      const usage = await send<Usage>(child, name, { close: true })
      // The child must not disconnect itself, because it could exit before its reply is read.
      child.disconnect()
      await gone
      process.off('exit', killOnExit)
      return usage
    },
    [Symbol.asyncDispose]: kill,
  }
}

/**
 * A contender that is opened anew for each repetition, with all that `open` puts on the stack. Opening is not measured.
 * What it used is the most of all repetitions.
 */
export function openedAnew(open: (stack: AsyncDisposableStack) => Promise<Side>): Side {
  const seen: Usage[] = []
  const most = (value: (usage: Usage) => number) => Math.max(...seen.map(value))
  return {
    async run() {
      await using stack = new AsyncDisposableStack()
      const side = await open(stack)
      const times = await side.run()
      seen.push(await side.close())
      return times
    },
    close: async () => ({
      peakBytes: most(({ peakBytes }) => peakBytes),
      loopDelay: {
        p999Ms: most(({ loopDelay }) => loopDelay.p999Ms),
        maxMs: most(({ loopDelay }) => loopDelay.maxMs),
        gcMs: most(({ loopDelay }) => loopDelay.gcMs),
      },
    }),
  }
}

async function send<Reply extends ContenderReply>(
  child: ChildProcess,
  name: string,
  request: ContenderRequest,
): Promise<Reply> {
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
    return reply as Reply
  } finally {
    child.off('exit', onExit)
  }
}
