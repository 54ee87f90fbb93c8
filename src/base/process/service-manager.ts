import { execFile } from 'node:child_process'
import { sentence } from '../errors.ts'
import type { Log } from '../log/log.ts'

/** For a service of `Type=notify`; see sd_notify(3) and sd_watchdog_enabled(3). */
type Environment = Readonly<Record<string, string | undefined>>

/** Does nothing without systemd. */
export class ServiceManager implements Disposable {
  readonly #environment: Environment
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  #isReadyTold = false
  #hasWarned = false

  constructor(environment: Environment, log: Log) {
    this.#environment = environment
    this.#log = log
  }

  /** The service works from now on. systemd restarts it when watchdog messages stop. */
  readonly ready = (): void => {
    this.#tellReady()
    const everyMs = this.#watchdogMs() / 2
    if (everyMs > 0) this.#timer = setInterval(this.#tellAlive, everyMs).unref()
  }

  /** Until the service has ended, watchdog messages continue. */
  readonly stopping = (): void => {
    this.#tell('STOPPING=1')
  };

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** In milliseconds; 0 without a watchdog, and for a process that the watchdog is not for. */
  #watchdogMs(): number {
    const { WATCHDOG_USEC: microseconds, WATCHDOG_PID: pid } = this.#environment
    if (pid !== undefined && Number(pid) !== process.pid) return 0
    return Number(microseconds ?? 0) / 1000 || 0
  }

  #tellReady(): void {
    this.#tell('READY=1', () => (this.#isReadyTold = true))
  }

  readonly #tellAlive = (): void => {
    if (!this.#isReadyTold) this.#tellReady()
    this.#tell('WATCHDOG=1')
  }

  /** Uses systemd-notify, because Node has no Unix datagram sockets. A failed message does not stop later ones. */
  #tell(message: string, onTold?: () => void): void {
    const { NOTIFY_SOCKET, PATH } = this.#environment
    if (NOTIFY_SOCKET === undefined) return
    const env = { NOTIFY_SOCKET, ...(PATH !== undefined && { PATH }) }
    execFile('systemd-notify', [message], { env, timeout: 10_000 }, (error) => {
      if (error === null) return onTold?.()
      if (this.#hasWarned) return
      this.#hasWarned = true
      this.#log.warn({ error: sentence(error) }, 'systemd cannot be told of the state of the service')
    })
  }
}
