import { setTimeout as sleep } from 'node:timers/promises'
import type { LimitFunction } from 'p-limit'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Change } from '../plan/change.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { Times } from '../queue/times.ts'
import { type FencedRun, type LockedRun, Overtaken } from '../store/fenced-run.ts'
import { isAway } from '../store/outage.ts'
import type { Pause } from '../store/pause.ts'
import type { Chunk, Claimed } from './claim.ts'
import type { Freshness } from './freshness.ts'
import type { ChunkJob } from './job.ts'
import { cutOff, judge, notTried, type Streaks } from './judge.ts'
import { flush, mergeFindings, noFindings, type Orders, Reclaimed, type Settled } from './outcomes.ts'
import { REFUSED_IN_ROW } from './refusals.ts'

/** Applies one change. Never throws for what the API answers. */
export type ApplyChange = (
  change: Change,
  how: {
    /** Look with GET before anything is sent. */
    readonly check: boolean
    /** Called before each request; what it throws keeps the request from being sent. */
    readonly beforeRequest: () => void
  },
  signal: AbortSignal,
) => Promise<Outcome>

export interface ChunkDeps {
  readonly fenced: FencedRun
  readonly job: ChunkJob
  readonly chunk: Chunk
  /** Since the claim. */
  readonly freshness: Freshness
  readonly worker: string
  readonly applyChange: ApplyChange
  /** Bounds the requests in flight, over all chunks of this worker. */
  readonly limit: LimitFunction
  readonly streaks: Streaks
  readonly run: RunInProcess
  /** Which of these changes are in quarantine. */
  readonly quarantined: (fingerprints: readonly string[]) => Promise<ReadonlySet<string>>
  /** Aborted when nothing more is to be sent, because the process ends. */
  readonly stopping: AbortSignal
  /** Ends requests that are still under way when the time for a graceful end is over. */
  readonly signal: AbortSignal
  readonly times: Times
  readonly log: Log
  /** Told each time that the service has asked for a pause. */
  readonly onPause: (pause: Pause) => void
}

/** What all chunks of a run in this process know together. */
export class RunInProcess {
  /** Aborted when the run is found to be another process's. */
  readonly overtaken = new AbortController()
  /** Changes of the run that were refused so far, and how many of them before the last one was sent that succeeded. */
  refused = 0
  #refusedBeforeSuccess = 0

  get isRefused(): boolean {
    return this.refused - this.#refusedBeforeSuccess >= REFUSED_IN_ROW
  }

  /** Takes what the store says; it may not have the last ones that this process saw. */
  see({ refused, refused_before_success: before }: LockedRun): void {
    this.refused = Math.max(this.refused, refused)
    this.#refusedBeforeSuccess = Math.max(this.#refusedBeforeSuccess, before)
  }

  /** Takes how many had been refused when a change was sent that succeeded. */
  succeed(refusedBefore: number): void {
    this.#refusedBeforeSuccess = Math.max(this.#refusedBeforeSuccess, refusedBefore)
  }
}

/** Outcomes that are written together at most. */
const GROUP = 100

/** Sends the changes of a chunk and writes what came of them, in groups; returns when the store has all outcomes. */
export async function applyChunk(deps: ChunkDeps): Promise<void> {
  const sending = new Sending(deps)
  await sending.run()
}

class StaleRun extends Error {
  override readonly name = 'StaleRun'
}

class Sending {
  readonly #deps: ChunkDeps
  #settled: Settled[] = []
  #findings = noFindings()
  #quarantined: Promise<ReadonlySet<string>> | undefined
  #isStopped = false
  #isUrgent = false
  /** Aborted when the changes of this chunk are another worker's. */
  readonly #reclaimed = new AbortController()
  /** Aborted when nothing of the chunk may be sent or written any more. */
  readonly #lost: AbortSignal
  /** Aborted when its requests in flight are to end. */
  readonly #cut: AbortSignal
  #writing: Promise<void> | undefined

  constructor(deps: ChunkDeps) {
    this.#deps = deps
    deps.run.see(deps.chunk.run)
    this.#lost = AbortSignal.any([this.#reclaimed.signal, deps.run.overtaken.signal])
    this.#cut = AbortSignal.any([this.#lost, deps.signal])
  }

  async run(): Promise<void> {
    const { chunk, limit, times } = this.#deps
    const beat = setInterval(() => void this.#write(), times.fence.look)
    try {
      await Promise.all(chunk.changes.map((change) => limit(() => this.#try(change))))
    } finally {
      clearInterval(beat)
    }
    await this.#writing
    await this.#writeLast()
  }

  async #try(change: Claimed): Promise<void> {
    if (this.#lost.aborted) return
    const settled = await this.#send(change)
    this.#settled.push(settled)
    if (this.#settled.length >= GROUP || this.#isUrgent) void this.#write()
  }

  async #send(change: Claimed): Promise<Settled> {
    const { applyChange, chunk, log, fenced, job } = this.#deps
    if (!this.#maySend()) return notTried(change)
    const refusedBefore = this.#deps.run.refused
    const check = change.unsure || chunk.run.directory_moved
    try {
      const outcome = await applyChange(
        change.change,
        { check, beforeRequest: () => this.#requireFresh() },
        this.#cut,
      )
      log.debug({ run: job.run, change: change.number, op: change.change.op, ...outcome }, 'tried a change')
      return await this.#judge(change, outcome, refusedBefore)
    } catch (error) {
      if (error instanceof StaleRun) this.#isStopped = true
      else
        log.warn({ run: fenced.run, change: change.number, error: sentence(error) }, 'a change was cut short')
      return cutOff(change)
    }
  }

  async #judge(change: Claimed, outcome: Outcome, refusedBefore: number): Promise<Settled> {
    const { chunk, job, streaks, times, run } = this.#deps
    const quarantined = outcome.result === 'forbidden' ? await this.#inQuarantine() : undefined
    const { settled, stops } = judge(
      {
        run: job.run,
        streaks,
        findings: this.#findings,
        retry: times.retry,
        isProbe: job.probe === true,
        outages: chunk.outages,
        isQuarantined: (fingerprint) => quarantined?.has(fingerprint) ?? false,
      },
      change,
      outcome,
    )
    if (stops) this.#isStopped = true
    if (settled.refusals > change.refusals && change.refusals === 0) run.refused += 1
    if (settled.state === 'applied') {
      run.succeed(refusedBefore)
      this.#findings.refusedBeforeSuccess = Math.max(this.#findings.refusedBeforeSuccess, refusedBefore)
    }
    // Where some are refused, all processes are to know soon what came after what.
    if (run.refused > 0) this.#isUrgent = true
    return settled
  }

  #inQuarantine(): Promise<ReadonlySet<string>> {
    const { quarantined, chunk } = this.#deps
    this.#quarantined ??= quarantined(chunk.changes.map(({ fingerprint }) => fingerprint))
    return this.#quarantined
  }

  #maySend(): boolean {
    const { stopping, freshness, job, run } = this.#deps
    if (job.probe !== true && run.isRefused) return false
    return !this.#isStopped && !this.#lost.aborted && !stopping.aborted && freshness.isFresh()
  }

  #requireFresh(): void {
    if (!this.#deps.freshness.isFresh()) throw new StaleRun('the store has not answered for too long')
  }

  /** Writes what has an outcome, or asks whether the run is still the current one. One write at a time. */
  #write(): Promise<void> {
    this.#writing ??= this.#flush(false)
      .catch(() => undefined)
      .finally(() => (this.#writing = undefined))
    return this.#writing
  }

  /** The store may be away for a moment: outcomes are not given up while nobody else has the changes. */
  async #writeLast(): Promise<void> {
    const { times, signal } = this.#deps
    while (!this.#lost.aborted) {
      try {
        await this.#flush(true)
        return
      } catch (error) {
        if (!isAway(error) || signal.aborted) throw error
      }
      await sleep(times.daemon.storeAway, undefined, { signal })
    }
  }

  async #flush(isLast: boolean): Promise<void> {
    const { fenced, job, chunk, worker, freshness, times } = this.#deps
    const settled = this.#settled
    const findings = this.#findings
    this.#settled = []
    this.#findings = noFindings()
    this.#isUrgent = false
    const { firstProbe: firstMs, lastProbe: lastMs } = times.outage
    try {
      const orders = await freshness.renew(() =>
        flush(fenced, {
          chunk: chunk.id,
          worker,
          tail: job.tail,
          settled,
          findings,
          isLast,
          outagePause: { firstMs, lastMs },
          longestPauseMs: times.limited.longest,
        }),
      )
      this.#obey(orders)
    } catch (error) {
      if (error instanceof Overtaken) this.#deps.run.overtaken.abort(error)
      if (error instanceof Reclaimed) this.#reclaimed.abort(error)
      this.#settled = [...settled, ...this.#settled]
      this.#findings = mergeFindings(findings, this.#findings)
      throw error
    }
  }

  #obey({ run, pause }: Orders): void {
    const isLimited = pause?.why === 'limited'
    if (run.stop_code !== null || isLimited) this.#isStopped = true
    if (isLimited) this.#deps.onPause(pause)
    this.#deps.run.see(run)
  }
}
