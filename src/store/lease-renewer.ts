import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { FromThread, ThreadData, ToThread } from './lease-thread.ts'

/** `.ts` where the sources run, `.js` where they were compiled. */
const THREAD = new URL(`./lease-thread${extname(import.meta.url)}`, import.meta.url)

type Renewal = Omit<Extract<ToThread, { do: 'renew' }>, 'do' | 'id'>

/** The main thread's end of the thread that renews leases. Disposing it ends the thread. */
export interface LeaseRenewer extends AsyncDisposable {
  /** Starts the thread, if it does not run yet. */
  start(): Promise<void>
  /** Has a lease renewed until the function that it returns is called, or until `onLost`, when somebody else has it. */
  renew(renewal: Renewal, onLost: () => void): () => void
}

export interface Login {
  readonly url: string
  /** Asked at the start, and again when the server refuses the login. */
  readonly password?: () => Promise<string>
}

/** One thread renews all leases. It keeps no process alive, and what goes wrong in it is one line of the log. */
export function createLeaseRenewer({ url, password }: Login, log: Log | undefined): LeaseRenewer {
  let thread: Promise<Worker> | undefined
  let running: Worker | undefined
  let lastId = 0
  const lost = new Map<number, () => void>()

  async function launch(): Promise<Worker> {
    const workerData: ThreadData = { url, password: await askPassword() }
    // Its own warnings would only repeat the main thread's, since both read the same URL.
    const worker = new Worker(THREAD, { workerData, stdout: true, stderr: true })
    worker.on('message', receive)
    worker.on('error', (error) => {
      log?.warn({ error: sentence(error) }, 'the thread that renews leases ended')
    })
    worker.on('exit', () => {
      thread = undefined
      running = undefined
    })
    worker.unref()
    running = worker
    return worker
  }

  function receive(message: FromThread): void {
    if (message.say === 'lost') lost.get(message.id)?.()
    else void logInAgain()
  }

  async function logInAgain(): Promise<void> {
    const current = await askPassword()
    if (current !== undefined) tell({ do: 'log in', password: current })
  }

  /** Without an answer the thread tries with what it has, and asks again. */
  async function askPassword(): Promise<string | undefined> {
    return password?.().catch(() => undefined)
  }

  function tell(message: ToThread): void {
    running?.postMessage(message)
  }

  return {
    async start() {
      thread ??= launch()
      await thread
    },
    renew(renewal, onLost) {
      const id = (lastId += 1)
      lost.set(id, onLost)
      tell({ do: 'renew', id, ...renewal })
      return () => {
        lost.delete(id)
        tell({ do: 'forget', id })
      }
    },
    async [Symbol.asyncDispose]() {
      await (await thread)?.terminate()
    },
  }
}
