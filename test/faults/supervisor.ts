import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Launch {
  readonly name: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Gets what the process prints, over all restarts. */
  readonly log: string
}

const RESTART_MS = 200

/** Keeps one process running, as systemd does, except while a fault holds it down. */
export class Supervisor implements AsyncDisposable {
  readonly name: string
  readonly #launch: Launch
  #child: ChildProcess | undefined
  #holds = 0
  #closed = false
  /** Ends that nobody asked for. */
  readonly exits: string[] = []

  constructor(launch: Launch) {
    this.name = launch.name
    this.#launch = launch
    this.#start()
  }

  /** SIGKILL; the process comes back after so long. */
  async killFor(ms: number): Promise<void> {
    this.#holds += 1
    const child = this.#child
    child?.kill('SIGKILL')
    await sleep(ms)
    this.#holds -= 1
    if (this.#holds === 0) this.#start()
  }

  /** SIGSTOP, and SIGCONT after so long. */
  async freezeFor(ms: number): Promise<void> {
    const child = this.#child
    child?.kill('SIGSTOP')
    await sleep(ms)
    child?.kill('SIGCONT')
  }

  #start(): void {
    if (this.#closed || this.#child !== undefined) return
    const { args, env, log } = this.#launch
    const file = openSync(log, 'a')
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, ...args], {
      stdio: ['ignore', file, file],
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    })
    closeSync(file)
    this.#child = child
    child.once('exit', (code, signal) => {
      this.#child = undefined
      if (this.#closed || this.#holds > 0) return
      if (signal !== 'SIGKILL') this.exits.push(`${this.name} ended with ${signal ?? code}`)
      setTimeout(() => this.#holds === 0 && this.#start(), RESTART_MS)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    const child = this.#child
    if (child === undefined) return
    const gone = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await gone
  }
}
