import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Answer, Ask, Memory } from './contender.ts'

/** A contender in its process, as the measuring process sees it. */
export interface Opponent extends AsyncDisposable {
  /** One repetition; its milliseconds. */
  run(): Promise<number>
  /** Ends the process and gives its memory. */
  close(): Promise<Memory>
}

/** Starts `contenders/<name>.ts` in a process of its own and opens it with the task. */
export async function startOpponent(name: string, task: object, profileDir?: string): Promise<Opponent> {
  const child = fork(new URL(`./contenders/${name}.ts`, import.meta.url))
  const dieWithUs = () => child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  const kill = async () => {
    process.off('exit', dieWithUs)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  try {
    await ask(child, name, { open: task, profileDir })
  } catch (error) {
    await kill()
    throw error
  }
  return {
    async run() {
      const answer = await ask(child, name, { run: true })
      return 'ms' in answer ? answer.ms : 0
    },
    async close() {
      const gone = once(child, 'exit')
      const answer = await ask(child, name, { close: true })
      // Here and not there: a process that has ended may have an answer left that nobody has read.
      child.disconnect()
      await gone
      process.off('exit', dieWithUs)
      return 'memory' in answer ? answer.memory : { startBytes: 0, peakBytes: 0 }
    },
    [Symbol.asyncDispose]: kill,
  }
}

async function ask(child: ChildProcess, name: string, question: Ask): Promise<Answer> {
  const ended = new AbortController()
  const onExit = (code: number | null, signal: string | null) =>
    ended.abort(new Error(`the process of ${name} ended with ${code ?? signal}`))
  child.once('exit', onExit)
  try {
    child.send(question)
    const [answer] = (await once(child, 'message', { signal: ended.signal }).catch(() => {
      throw ended.signal.reason
    })) as [Answer]
    if ('failed' in answer) throw new Error(`${name}: ${answer.failed}`)
    return answer
  } finally {
    child.off('exit', onExit)
  }
}
