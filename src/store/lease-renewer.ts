import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import type { FromThread, ThreadData, ToThread } from './lease-thread.ts'

/** `.ts` where the sources run, `.js` where they were compiled. */
const THREAD = new URL(`./lease-thread${extname(import.meta.url)}`, import.meta.url)

type Renewal = Omit<Extract<ToThread, { do: 'renew' }>, 'do' | 'id'>

interface Login {
  readonly url: string
  /** Asked at the start, and again when the server refuses the login. */
  readonly password?: () => Promise<string>
}

/**
 * The main thread's end of the thread that renews all leases. It keeps no process alive, and what goes wrong in it is
 * one line of the log. Disposing it ends the thread.
 */
export class LeaseRenewer implements AsyncDisposable {
  readonly #login: Login
  readonly #log: Log | undefined
  /** What to call when a lease is lost, by its number. */
  readonly #onLost = new Map<number, () => void>()
  #thread: Promise<Worker> | undefined
  #running: Worker | undefined
  #lastId = 0

  constructor(login: Login, log: Log | undefined) {
    this.#login = login
    this.#log = log
  }

  /** Starts the thread, if it does not run yet. */
  async start(): Promise<void> {
    this.#thread ??= this.#launch()
    await this.#thread
  }

  /** Has a lease renewed until the function that it returns is called, or until `onLost`, when somebody else has it. */
  renew(renewal: Renewal, onLost: () => void): () => void {
    const id = (this.#lastId += 1)
    this.#onLost.set(id, onLost)
    this.#post({ do: 'renew', id, ...renewal })
    return () => {
      this.#onLost.delete(id)
      this.#post({ do: 'forget', id })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#thread)?.terminate()
  }

  async #launch(): Promise<Worker> {
    const workerData: ThreadData = { url: this.#login.url, password: await this.#askPassword() }
    // Its own warnings would only repeat the main thread's, since both read the same URL.
    const worker = new Worker(THREAD, { workerData, stdout: true, stderr: true })
    worker.on('message', (message: FromThread) => this.#receive(message))
    worker.on('error', (error) => {
      this.#log?.warn({ error: sentence(error) }, 'the thread that renews leases ended')
    })
    worker.on('exit', () => {
      this.#thread = undefined
      this.#running = undefined
    })
    worker.unref()
    this.#running = worker
    return worker
  }

  #receive(message: FromThread): void {
    if (message.say === 'lost') this.#onLost.get(message.id)?.()
    else void this.#logInAgain()
  }

  async #logInAgain(): Promise<void> {
    const password = await this.#askPassword()
    if (password !== undefined) this.#post({ do: 'log in', password })
  }

  /** Without an answer the thread tries with what it has, and asks again. */
  async #askPassword(): Promise<string | undefined> {
    return this.#login.password?.().catch(() => undefined)
  }

  #post(message: ToThread): void {
    this.#running?.postMessage(message)
  }
}
