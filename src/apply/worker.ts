import pLimit from 'p-limit'
import type { Kysely } from 'kysely'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { QueueBackend } from '../queue/backend.ts'
import { type Times, TIMES } from '../queue/times.ts'
import { FencedRun, Overtaken } from '../store/fenced-run.ts'
import { isAway } from '../store/outage.ts'
import { createPauseLog } from '../store/pause.ts'
import { quarantinedOf } from '../store/quarantine.ts'
import type { Tables } from '../store/tables.ts'
import { type ApplyChange, applyChunk, RunInProcess } from './chunk.ts'
import { claim } from './claim.ts'
import { Freshness } from './freshness.ts'
import { type ChunkJob, changesQueueName } from './job.ts'
import { Streaks } from './judge.ts'

export interface ChangeWorkerDeps {
  readonly db: Kysely<Tables>
  readonly backend: QueueBackend
  readonly sync: string
  /** Names this process in the journal. */
  readonly name: string
  /** The most changes that are sent at once. */
  readonly concurrency: number
  readonly applyChange: ApplyChange
  /** Ends requests that are still under way when the time for a graceful end is over. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly times?: Times
}

export interface ChangeWorker {
  waitUntilReady(): Promise<unknown>
  /** Sends nothing more and lets the changes in flight finish. */
  close(): Promise<void>
}

/** Chunks that a worker has claimed at once: while one is claimed or written, another one is sent. */
const CHUNKS = 4

/** Starts a worker that applies the changes of one sync. */
export function startChangeWorker(deps: ChangeWorkerDeps): ChangeWorker {
  const times = deps.times ?? TIMES
  const log = deps.log.child({ sync: deps.sync })
  const limit = pLimit(deps.concurrency)
  const streaks = new Streaks()
  const stopping = new AbortController()
  const onPause = createPauseLog(log)
  let current = { number: 0, epoch: 0, run: new RunInProcess() }
  const worker = deps.backend.createWorker<ChunkJob>(changesQueueName(deps.sync), (job) => work(job.data), {
    concurrency: CHUNKS,
    name: deps.name,
  })

  async function work(job: ChunkJob): Promise<void> {
    // A job of the version before this one; its changes come back from the store.
    if (job.first === undefined) return
    try {
      await applyJob(job)
    } catch (error) {
      // The queue need not know: what is left comes back from the store.
      if (error instanceof Overtaken || isAway(error)) return
      log.error({ run: job.run, error: sentence(error) }, 'a chunk was left')
    }
  }

  async function applyJob(job: ChunkJob): Promise<void> {
    const fenced = new FencedRun(deps.db, job)
    const freshness = new Freshness(times.fence.blind)
    const chunk = await claim(fenced, job, { worker: deps.name, leaseMs: times.lease.expiry })
    if (chunk === undefined) return
    const { run: number, epoch } = job
    if (current.number !== number || current.epoch !== epoch)
      current = { number, epoch, run: new RunInProcess() }
    await applyChunk({
      fenced,
      job,
      chunk,
      freshness,
      worker: deps.name,
      applyChange: deps.applyChange,
      limit,
      streaks,
      run: current.run,
      quarantined: (fingerprints) => quarantinedOf(deps.db, chunk.run, fingerprints),
      stopping: stopping.signal,
      signal: deps.signal,
      times,
      log,
      onPause,
    })
    sayOutage()
  }

  let saidOut = false

  function sayOutage(): void {
    if (streaks.isOut === saidOut) return
    saidOut = streaks.isOut
    if (saidOut) log.warn('the directory does not answer; changes wait')
    else log.info('the directory answers again')
  }

  return {
    waitUntilReady: () => worker.waitUntilReady(),
    close: () => {
      stopping.abort()
      return worker.close()
    },
  }
}
