import type { Config } from '../config/config.ts'
import type { ReloadReport } from '../operations/reload.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { changedKeys, type Options } from '../core/plan/configuration.ts'
import type { OpenSyncs } from './open-syncs.ts'

export interface ReloaderDeps {
  readonly started: Config
  /** Reads and checks the file. Throws `config-invalid`. */
  readonly readAgain: () => Promise<Config>
  /** Only syncs and retention of the new configuration may differ. */
  readonly change: (config: Config) => ReturnType<OpenSyncs['change']>
  readonly log: Log
  /** Aborted at shutdown. */
  readonly signal: AbortSignal
}

/** One reload at a time. An invalid configuration changes nothing. */
export class Reloader {
  readonly #deps: ReloaderDeps
  #current: Config
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: ReloaderDeps) {
    this.#deps = deps
    this.#current = deps.started
  }

  /** Throws for an invalid file; then the configuration is as before. */
  reload(): Promise<ReloadReport> {
    const next = this.#last.then(() => this.#reload())
    this.#last = next.catch((error: unknown) => {
      this.#deps.log.error({ error: sentence(error) }, 'the configuration could not be changed')
    })
    return next
  }

  /** For a signal, whose sender waits for no answer. */
  reloadInBackground(): void {
    this.reload().catch(() => undefined)
  }

  async settled(): Promise<void> {
    await this.#last
  }

  async #reload(): Promise<ReloadReport> {
    const { readAgain, change, started, log } = this.#deps
    this.#refuseWhenStopping()
    const read = await readAgain()
    this.#refuseWhenStopping()
    const { syncs, retention } = read
    const applied = changedKeys(retentionIn(this.#current.written), retentionIn(read.written))
    this.#current = { ...started, syncs, retention, written: read.written }
    const { changes, failures } = await change(this.#current)
    const needRestart = changedKeys(othersIn(started.written), othersIn(read.written))
    log.info({ ...changes, applied, needRestart }, 'configuration read again')
    if (failures.length > 0) throw failures[0]
    return { file: read.file, ...changes, applied, needRestart }
  }

  #refuseWhenStopping(): void {
    if (!this.#deps.signal.aborted) return
    throw stopping()
  }
}

export function stopping(): DirsyncdError {
  return new DirsyncdError(
    'interrupted',
    'The daemon is stopping; the next one reads the configuration anyway.',
  )
}

function retentionIn(written: Options): Options {
  return Object.fromEntries(Object.entries(written).filter(([key]) => key.startsWith('retention.')))
}

function othersIn(written: Options): Options {
  return Object.fromEntries(Object.entries(written).filter(([key]) => !key.startsWith('retention.')))
}
