import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'bullmq'
import { sentence } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import type { QueueBackend } from '../../queue/backend.ts'
import type { Times } from '../../queue/times.ts'
import { FencedRun } from '../../store/fenced-run.ts'
import { createPauseLog, type Pause } from '../../store/pause.ts'
import { quarantinedOf } from '../../store/quarantine.ts'
import { stopRun } from '../../store/runs.ts'
import type { Db } from '../../store/tables.ts'
import { applyChunk, type OnOutcome } from './chunk.ts'
import { claim } from './claim.ts'
import { Freshness } from './freshness.ts'
import { type Ticket, changesQueueName } from './job.ts'
import { FailureCounters } from './judge.ts'
import { isPassing } from './outcomes.ts'
import { RunInProcess } from './run-in-process.ts'
import type { Senders } from './senders.ts'
import { Throttle } from './throttle.ts'

export interface ChangeWorkerDeps {
  readonly db: Db
  readonly backend: QueueBackend
  readonly sync: string
  readonly target: string
  readonly name: string
  readonly concurrency: number
  readonly senders: Senders
  /** Aborted when the grace time of the shutdown is over: ends the requests in flight. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly times: Times
  readonly onOutcome?: OnOutcome | undefined
}

/** Claimed chunks at once: while one is claimed or written, another is sent. */
const CHUNKS = 4

/** Takes the tickets of one sync's queue and applies the changes until it is closed. */
export class ChangeWorker {
  readonly #deps: ChangeWorkerDeps
  readonly #log: Log
  readonly #throttle: Throttle
  readonly #onPause: (pause: Pause) => void
  readonly #counters = new FailureCounters()
  readonly #stopping = new AbortController()
  readonly #queueWorker: Worker<Ticket>
  #current = { number: 0, epoch: 0, run: new RunInProcess() }
  #saidOut = false
  /** The last run that was left to other workers. */
  #otherRun: number | undefined

  constructor(deps: ChangeWorkerDeps) {
    this.#deps = deps
    this.#log = deps.log.child({ sync: deps.sync })
    this.#throttle = new Throttle(deps.concurrency)
    this.#onPause = createPauseLog(this.#log)
    const { backend, sync, name } = deps
    this.#queueWorker = backend.createWorker(changesQueueName(sync), (job) => this.#work(job.data), {
      concurrency: CHUNKS,
      name,
    })
  }

  waitUntilReady(): Promise<unknown> {
    return this.#queueWorker.waitUntilReady()
  }

  /** Sends nothing more and lets the changes in flight finish. */
  close(): Promise<void> {
    this.#stopping.abort()
    return this.#queueWorker.close()
  }

  async #work(job: Ticket): Promise<void> {
    try {
      await this.#applyJob(job)
    } catch (error) {
      // The queue need not know: the remaining changes come back from the store.
      if (isPassing(error)) return
      this.#log.error({ run: job.run, error: sentence(error) }, 'a chunk was left')
      const fenced = new FencedRun(this.#deps.db, job)
      // Otherwise the changes would be claimed, sent and left again and again.
      await fenced.write((trx) => stopRun(trx, job.run, 'internal', sentence(error))).catch(() => undefined)
    }
  }

  async #applyJob(job: Ticket): Promise<void> {
    const { db, name, target, senders, signal, times } = this.#deps
    const fenced = new FencedRun(db, job)
    const [freshness, removals] = [new Freshness(times.fence.blind), new Freshness(times.fence.removals)]
    const chunk = await claim(fenced, job, { worker: name, target, leaseMs: times.lease.expiry })
    if (chunk === 'other-target') return this.#leaveToOthers(job)
    if (chunk === undefined) return
    await applyChunk({
      fenced,
      chunk,
      freshness,
      removals,
      worker: name,
      senders,
      throttle: this.#throttle,
      counters: this.#counters,
      run: this.#runOf(job),
      quarantined: (fingerprints) => quarantinedOf(db, chunk.run, fingerprints),
      stopping: this.#stopping.signal,
      signal,
      times,
      log: this.#log,
      onPause: this.#onPause,
      onOutcome: this.#deps.onOutcome,
    })
    this.#sayOutage()
  }

  /** Waits before the next ticket, so that a worker with the configuration of the run's owner may take it. */
  async #leaveToOthers({ run }: Ticket): Promise<void> {
    if (this.#otherRun !== run)
      this.#log.warn(
        { run, directory: this.#deps.target },
        'the run writes to another directory than this process: their configurations differ',
      )
    this.#otherRun = run
    await sleep(this.#deps.times.jobs.askAgain, undefined, { signal: this.#stopping.signal }).catch(
      () => undefined,
    )
  }

  #runOf({ run: number, epoch }: Ticket): RunInProcess {
    if (this.#current.number !== number || this.#current.epoch !== epoch)
      this.#current = { number, epoch, run: new RunInProcess() }
    return this.#current.run
  }

  #sayOutage(): void {
    const { isOutage, failure: reason } = this.#counters
    if (isOutage === this.#saidOut) return
    this.#saidOut = isOutage
    if (isOutage) this.#log.warn({ reason }, 'the directory does not answer; changes wait')
    else this.#log.info('the directory answers again')
  }
}
