import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { SenderTask } from './budget-sender.ts'

const SENDER = fileURLToPath(new URL('budget-sender.ts', import.meta.url))

export type Recorder = AsyncDisposable & {
  readonly origin: string
  /** When each request arrived, in milliseconds. */
  readonly times: readonly number[]
}

/** A service that answers every request at once and records when it came. */
export async function recordRequests(): Promise<Recorder> {
  const times: number[] = []
  const server = createServer((_request, response) => {
    times.push(performance.now())
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    times,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Runs the task in a process of its own. */
export async function runSender(task: SenderTask): Promise<void> {
  const child = fork(SENDER)
  const killOnExit = () => child.kill('SIGKILL')
  process.once('exit', killOnExit)
  try {
    child.send(task)
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the sender ended with ${code}`)
  } finally {
    process.off('exit', killOnExit)
    child.kill('SIGKILL')
  }
}
