import { setTimeout as sleep } from 'node:timers/promises'
import { sentence } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import { type Change, type Op, takesAway } from '../../core/plan/change.ts'
import type { Create } from '../../core/plan/batches.ts'
import type { BatchFault, Outcome } from '../../core/plan/outcome.ts'
import type { Times } from '../../queue/times.ts'
import { type FencedRun, Overtaken } from '../../store/fenced-run.ts'
import { isAway } from '../../base/database/outage.ts'
import type { Pause } from '../../store/pause.ts'
import type { Chunk } from './claim.ts'
import type { Claimed } from './job.ts'
import type { Freshness } from './freshness.ts'
import { cutOff, judge, type Judged, notTried, type FailureCounters, unmet } from './judge.ts'
import { type Findings, flush, isPassing, Reclaimed, type Settled } from './outcomes.ts'
import type { RunInProcess } from './run-in-process.ts'
import { requestsOf, type Senders } from './senders.ts'
import type { Throttle } from './throttle.ts'

interface ChunkDeps {
  readonly fenced: FencedRun
  readonly chunk: Chunk
  /** The time since the claim or the last renewal. */
  readonly freshness: Freshness
  /** The time since the claim; removals are sent only soon after it. */
  readonly removals: Freshness
  readonly worker: string
  readonly senders: Senders
  /** Limits the requests in flight over all chunks of this worker. */
  readonly throttle: Throttle
  readonly counters: FailureCounters
  readonly run: RunInProcess
  readonly quarantined: (fingerprints: readonly string[]) => Promise<ReadonlySet<string>>
  /** Aborted when the process ends: no new request is sent. */
  readonly stopping: AbortSignal
  /** Aborted when the grace time of the shutdown is over: ends the requests in flight. */
  readonly signal: AbortSignal
  readonly times: Times
  readonly log: Log
  readonly onPause: (pause: Pause) => void
  readonly onOutcome?: OnOutcome | undefined
}

/** Called when the store has the outcome; `pending` where the change is retried. */
export type OnOutcome = (op: Op, outcome: Settled['state']) => void

const GROUP = 500

/** Sends the changes of a chunk and writes their outcomes in groups. Returns when the store has all outcomes. */
export async function applyChunk(deps: ChunkDeps): Promise<void> {
  await new Sending(deps).run()
}

class StaleRun extends Error {
  override readonly name = 'StaleRun'
}

/** The client has retried a removal until its recheck was too old. */
class StaleRecheck extends Error {
  override readonly name = 'StaleRecheck'
  readonly outcome = {
    result: 'unavailable',
    status: undefined,
    detail: 'the service did not do it in time; it is sent again after another recheck of the source',
    answeredBy: 'service',
  } as const
}

class Sending {
  readonly #deps: ChunkDeps
  readonly #changes: ReadonlyMap<number, Change>
  #settled: Settled[] = []
  #left: number
  #findings: Findings = {}
  #quarantined: Promise<ReadonlySet<string>> | undefined
  #isStopped = false
  /** The run has ended: nothing is sent again, not even what was sent without an answer. */
  #hasEnded = false
  #isUrgent = false
  /** Aborted when another worker has taken over the chunk. */
  readonly #reclaimed = new AbortController()
  /** Aborted when this worker must neither send nor write changes of the chunk. */
  readonly #lost: AbortSignal
  /** Aborted when the requests in flight must end. */
  readonly #cut: AbortSignal
  #writing: Promise<void> | undefined
  /** When the throttle counts more pauses than this, the service has asked for a pause since: nothing more is sent. */
  readonly #pausesBefore: number

  constructor(deps: ChunkDeps) {
    this.#deps = deps
    this.#left = deps.chunk.changes.length
    this.#changes = new Map(deps.chunk.changes.map(({ number, change }) => [number, change]))
    this.#pausesBefore = deps.throttle.pauses
    this.#lost = AbortSignal.any([this.#reclaimed.signal, deps.run.overtaken.signal])
    this.#cut = AbortSignal.any([this.#lost, deps.signal])
  }

  async run(): Promise<void> {
    const { chunk, senders, throttle, times } = this.#deps
    const beat = setInterval(() => void this.#write(), times.fence.look)
    try {
      await Promise.all(
        requestsOf(chunk.changes, senders.batchSize).map((batch) => throttle.limit(() => this.#send(batch))),
      )
    } finally {
      clearInterval(beat)
    }
    await this.#writing
    await this.#writeLast()
  }

  async #send(batch: readonly Claimed[]): Promise<void> {
    if (batch.length > 1 && this.#deps.run.sendsBatches) return this.#sendBatch(batch)
    for (const change of batch) {
      if (this.#lost.aborted) return
      this.#add([await this.#sendAlone(change)])
    }
  }

  #add(settled: readonly Settled[]): void {
    this.#settled.push(...settled)
    this.#left -= settled.length
    // The last outcomes are written with the end of the chunk.
    if (this.#left > 0 && (this.#settled.length >= GROUP || this.#isUrgent)) void this.#write()
  }

  async #sendAlone(change: Claimed): Promise<Settled> {
    if (change.unmet !== undefined) return unmet(change)
    if (!this.#maySend() || !this.#mayRemove(change)) return notTried(change)
    const { senders, throttle } = this.#deps
    try {
      const how = { check: this.#isUnsure(change), beforeRequest: () => this.#requireFresh(change) }
      const outcome = await senders.applyChange(change.change, how, this.#cut)
      const quarantined = outcome.result === 'forbidden' ? await this.#inQuarantine() : undefined
      const [settled] = this.#judge([change], outcome, quarantined)
      throttle.answered()
      return settled!
    } catch (error) {
      if (error instanceof StaleRecheck) return this.#judge([change], error.outcome)[0]!
      this.#stopFor(error, [change])
      return cutOff(change)
    }
  }

  async #sendBatch(batch: readonly Claimed[]): Promise<void> {
    const { senders, throttle, run } = this.#deps
    if (!this.#maySend()) return this.#add(batch.map(notTried))
    let isAsSent = true
    const open = new Map(batch.map((change) => [change.change.id, change]))
    const how = {
      check: batch.some((change) => this.#isUnsure(change)),
      beforeRequest: () => this.#requireFresh(),
      maySend: () => this.#maySend(),
      onFault: (fault: BatchFault) => {
        isAsSent = false
        this.#seeFault(batch[0]!, fault)
      },
    }
    try {
      const creates = batch.map(({ change }) => change as Create)
      for await (const { changes, outcome } of senders.createBatch(creates, how, this.#cut)) {
        const told = changes.flatMap(({ id }) => open.get(id) ?? [])
        for (const { id } of changes) open.delete(id)
        this.#add(outcome === undefined ? told.map(notTried) : this.#judge(told, outcome))
      }
      throttle.answered()
      if (isAsSent && open.size === 0) run.seeBatch(true)
    } catch (error) {
      this.#stopFor(error, batch)
    }
    this.#add([...open.values()].map(cutOff))
  }

  #isUnsure({ unsure, change: { op } }: Claimed): boolean {
    const { directory_moved: isMoved, look_first: kinds } = this.#deps.chunk.run
    return unsure || isMoved || kinds.some((kind) => op === `create-${kind}`)
  }

  /** One 403 for several changes does not show which change is refused, so each is sent alone. */
  #judge(
    changes: readonly Claimed[],
    outcome: Outcome,
    quarantined?: ReadonlySet<string>,
  ): readonly Settled[] {
    const { chunk, fenced, counters, times, throttle, log } = this.#deps
    if ('retryAfterMs' in outcome && outcome.retryAfterMs !== undefined) throttle.refused(this.#pausesBefore)
    for (const { number, change } of changes)
      log.debug({ run: fenced.run, change: number, op: change.op, ...outcome }, 'tried a change')
    const deps = {
      run: fenced.run,
      counters,
      findings: this.#findings,
      retry: times.retry,
      outages: chunk.outages,
      isQuarantined: (fingerprint: string) => quarantined?.has(fingerprint) ?? false,
    }
    return judge(deps, changes, outcome).map((judged) => this.#follow(judged))
  }

  #follow({ settled, stops }: Judged): Settled {
    const { run } = this.#deps
    if (stops) this.#isStopped = true
    // The other processes need to know of refusals, and of a success after them, soon.
    if (settled.isRefusal === true || run.refusedInRow > 0) this.#isUrgent = true
    if (settled.isRefusal === true) run.refusedInRow += 1
    if (settled.state === 'applied') run.refusedInRow = 0
    return settled
  }

  #seeFault({ change: { op } }: Claimed, { id, detail: reason }: BatchFault): void {
    const { run, log, fenced } = this.#deps
    const isLast = run.seeBatch(false)
    log.info({ run: fenced.run, id, reason }, 'a batch was not created as sent')
    if (!isLast) return
    const kind = op === 'create-group' ? 'group' : 'user'
    this.#findings.notice ??= { kind, id, code: 'batches-off', params: { reason } }
    log.warn({ run: fenced.run }, 'the rest of the run sends each entry alone')
  }

  #tell({ number, state, detail, status, attempts }: Settled): void {
    const { fenced, log, onOutcome } = this.#deps
    const { op, id } = this.#changes.get(number)!
    if (state !== 'pending')
      log.info(
        { run: fenced.run, change: number, op, id, outcome: state, status, attempts },
        'a change has its outcome',
      )
    if (state !== 'pending' || detail !== undefined) onOutcome?.(op, state)
  }

  #stopFor(error: unknown, [first]: readonly Claimed[]): void {
    const { log, fenced } = this.#deps
    if (error instanceof StaleRun) this.#isStopped = true
    else
      log.warn({ run: fenced.run, change: first?.number, error: sentence(error) }, 'a change was cut short')
  }

  #inQuarantine(): Promise<ReadonlySet<string>> {
    const { quarantined, chunk } = this.#deps
    this.#quarantined ??= quarantined(chunk.changes.map(({ fingerprint }) => fingerprint))
    return this.#quarantined
  }

  #maySend(): boolean {
    const { stopping, freshness, run, throttle } = this.#deps
    if (throttle.pauses !== this.#pausesBefore || run.isRefused) return false
    return !this.#isStopped && !this.#lost.aborted && !stopping.aborted && freshness.isFresh()
  }

  #mayRemove({ change }: Claimed): boolean {
    return this.#deps.removals.isFresh() || !takesAway(change)
  }

  #requireFresh(change?: Claimed): void {
    if (this.#hasEnded) throw new StaleRun('the run has ended')
    if (!this.#deps.freshness.isFresh()) throw new StaleRun('the store has not answered for too long')
    if (change !== undefined && !this.#mayRemove(change)) throw new StaleRecheck()
  }

  /** Writes outcomes, or asks whether the run is still the current one. One write at a time. */
  #write(): Promise<void> {
    this.#writing ??= this.#flush(false)
      .catch((error: unknown) => {
        // The last write meets the error again, and the worker stops the run with it.
        if (!isPassing(error)) this.#isStopped = true
      })
      .finally(() => (this.#writing = undefined))
    return this.#writing
  }

  /** The store may be away for a moment: the outcomes are kept while no other worker has the changes. */
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
    const { fenced, chunk, worker, freshness, times } = this.#deps
    const settled = this.#settled
    const findings = this.#findings
    this.#settled = []
    this.#findings = {}
    this.#isUrgent = false
    try {
      const orders = await freshness.renew(() =>
        flush(fenced, {
          chunk: chunk.id,
          worker,
          retry: chunk.retry,
          settled,
          findings,
          isLast,
          times,
        }),
      )
      this.#obey(orders)
    } catch (error) {
      if (error instanceof Overtaken) this.#deps.run.overtaken.abort(error)
      if (error instanceof Reclaimed) this.#reclaimed.abort(error)
      this.#settled = [...settled, ...this.#settled]
      const { pause = findings.pause } = this.#findings
      this.#findings = { ...this.#findings, ...findings, pause }
      throw error
    }
  }

  #obey({ isStopped, refusedInRow, written, pause }: Awaited<ReturnType<typeof flush>>): void {
    for (const each of written) this.#tell(each)
    const isLimited = pause?.why === 'limited'
    if (isStopped) this.#hasEnded = true
    if (isStopped || isLimited) this.#isStopped = true
    if (isLimited) {
      this.#deps.throttle.pause(this.#pausesBefore)
      this.#deps.onPause(pause)
    }
    this.#deps.run.refusedInRow = refusedInRow
  }
}
