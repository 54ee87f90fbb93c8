import {
  CircuitState,
  circuitBreaker,
  ConsecutiveBreaker,
  ExponentialBackoff,
  handleAll,
  isBrokenCircuitError,
} from 'cockatiel'
import { Worker, type Job } from 'bullmq'
import type { Kysely } from 'kysely'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Change } from '../plan/change.ts'
import type { Outcome } from '../plan/outcome.ts'
import { type Attempt, beginAttempt, endAttempt, failAttempt, undoAttempt } from '../store/journal.ts'
import { isQuarantined, quarantine } from '../store/quarantine.ts'
import { refuseForNow } from '../store/refusals.ts'
import { stopRun } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { QueueBackend } from './backend.ts'
import { ATTEMPTS, type ChangeJob, changesQueueName, PHASE_ATTEMPTS } from './changes.ts'
import { Fence } from './fence.ts'
import { REFUSED_IN_ROW } from './refusals.ts'
import { type Times, TIMES } from './times.ts'

/** Applies one change; `check` looks with GET before anything is sent. Never throws for what the API answers. */
export type ApplyChange = (
  change: Change,
  options: { readonly check: boolean },
  signal: AbortSignal,
) => Promise<Outcome>

export interface ChangeWorkerDeps {
  readonly db: Kysely<Tables>
  readonly backend: QueueBackend
  readonly sync: string
  /** Names this process in the journal. */
  readonly name: string
  readonly concurrency: number
  readonly applyChange: ApplyChange
  /** Ends requests that are still under way when the time for a graceful end is over. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly times?: Times
}

/** Failures in a row, without any success between them, that make an outage of failing changes. */
const OUTAGE_AFTER = 5
/** More changes than these in a row that an API which answers cannot do are no fault of theirs. */
const FAULTY_CHANGES = 20
/** Updates in a row whose entries are missing; with one more the directory is not the one that was read. */
const MOST_MISSING = 20

/** Starts a worker that applies the changes of one sync. Closing it lets the changes in flight finish. */
export function startChangeWorker(deps: ChangeWorkerDeps): Worker<ChangeJob> {
  const times = deps.times ?? TIMES
  const breaker = circuitBreaker(handleAll, {
    halfOpenAfter: new ExponentialBackoff({
      initialDelay: times.outage.firstProbe,
      maxDelay: times.outage.lastProbe,
    }),
    breaker: new ConsecutiveBreaker(OUTAGE_AFTER),
  })
  const fence = new Fence(deps.db, deps.sync, times.fence)
  /** The changes that failed since one did not. */
  const failing = new Set<number>()
  let missing = { run: 0, inRow: 0 }
  const log = deps.log.child({ sync: deps.sync })
  breaker.onBreak(() => log.warn('the directory does not answer; changes wait'))
  breaker.onReset(() => log.info('the directory answers again'))

  const worker = deps.backend.createWorker<ChangeJob>(changesQueueName(deps.sync), process, {
    concurrency: deps.concurrency,
    name: deps.name,
  })

  async function process(job: Job<ChangeJob>): Promise<void> {
    const probe = job.data.probe === true
    const refusedInRowBelow = probe ? null : REFUSED_IN_ROW
    const wanted = { ...job.data, refusedInRowBelow, leaseMs: times.lease.expiry }
    const attempt = await beginAttempt(deps.db, wanted, deps.name)
    if (attempt === undefined) return
    const outcome = await tryOnce(attempt)
    if (outcome === 'not-tried') {
      await undoAttempt(deps.db, attempt)
      return giveBack(times.outage.look)
    }
    log.debug(
      { run: attempt.run, change: attempt.number, op: attempt.change.op, ...outcome },
      'tried a change',
    )
    await settle(attempt, outcome, probe)
  }

  /** The breaker counts outages; an answer of any kind closes it again. */
  async function tryOnce(attempt: Attempt): Promise<Outcome | 'not-tried'> {
    let outcome: Outcome | undefined
    try {
      await breaker.execute(async () => {
        outcome = await fence.guard(attempt.run, (overtaken) => {
          const signal = AbortSignal.any([overtaken, deps.signal])
          return deps.applyChange(attempt.change, { check: attempt.check }, signal)
        })
        if (isOutage(attempt, outcome)) throw new Error('unavailable')
      })
    } catch (error) {
      if (outcome === undefined && !isBrokenCircuitError(error)) throw withoutData(error, attempt)
    }
    return outcome ?? 'not-tried'
  }

  /**
   * One change that the API always fails at must not hold up the others, nor the end of the run; no more may one that a
   * proxy always answers with a web page. So only different changes in a row that get such pages are an outage.
   */
  function isOutage({ number }: Attempt, outcome: Outcome): boolean {
    if (outcome.result !== 'unavailable') {
      failing.clear()
      return false
    }
    const isFirstFailure = !failing.has(number)
    failing.add(number)
    switch (outcome.answeredBy) {
      case 'nobody':
        return true
      case 'proxy':
        return isFirstFailure || breaker.state !== CircuitState.Closed
      case 'service':
        return failing.size > FAULTY_CHANGES
    }
  }

  /** The attempt stays without an outcome, so the next one looks before it sends. The queue keeps the error: a code only. */
  function withoutData(error: unknown, attempt: Attempt): Error {
    const fields = { run: attempt.run, change: attempt.number, error: sentence(error) }
    log.warn(fields, 'a change was cut short')
    return new Error('cut short')
  }

  async function settle(attempt: Attempt, outcome: Outcome, probe: boolean): Promise<void> {
    switch (outcome.result) {
      case 'applied':
      case 'found':
      case 'already':
        missing = { run: attempt.run, inRow: 0 }
        // An earlier attempt, whose answer was lost, may have created what was there.
        return endAttempt(
          deps.db,
          attempt,
          outcome.result,
          attempt.wasUnsure ? { ...outcome, detail: undefined } : outcome,
        )
      case 'missing':
        await endAttempt(deps.db, attempt, outcome.result, outcome)
        return countMissing(attempt.run)
      case 'rate-limited':
        await undoAttempt(deps.db, attempt)
        return giveBack(outcome.retryAfterMs)
      case 'refused':
        return refuse(attempt, outcome)
      case 'forbidden':
        // For what was in quarantine before, it was decided then what its 403 means.
        if (await isQuarantined(deps.db, attempt)) return refuse(attempt, outcome)
        return refuseForNow(deps.db, attempt, { probe }, outcome)
      case 'stop':
        await failAttempt(deps.db, attempt, { unsure: true, tail: false, counted: true }, outcome)
        return stopRun(deps.db, attempt.run, outcome.code, outcome.detail)
      case 'unavailable':
        return tryAgain(attempt, outcome)
    }
  }

  async function countMissing(run: number): Promise<void> {
    missing = { run, inRow: missing.run === run ? missing.inRow + 1 : 1 }
    if (missing.inRow <= MOST_MISSING) return
    const detail = `${missing.inRow} entries in a row that the directory has just listed are not in it any more`
    await stopRun(deps.db, run, 'directory-unexpected', `${detail}; the next run reads it again`)
  }

  async function refuse(
    attempt: Attempt,
    outcome: { status: number | undefined; detail: string },
  ): Promise<void> {
    // Who has the e-mail that this change gets loses it in this run: at its end it may be free.
    if (!attempt.tail && 'takes' in attempt.change) {
      return failAttempt(deps.db, attempt, { unsure: false, tail: true, counted: true }, outcome)
    }
    await quarantine(deps.db, attempt, outcome.detail)
    await endAttempt(deps.db, attempt, 'quarantined', outcome)
  }

  async function tryAgain(
    attempt: Attempt,
    outcome: { status: number | undefined; detail: string },
  ): Promise<void> {
    if (breaker.state !== CircuitState.Closed) {
      await failAttempt(deps.db, attempt, { unsure: true, tail: false, counted: false }, outcome)
      return giveBack(times.outage.look)
    }
    if (attempt.attempt >= ATTEMPTS) return endAttempt(deps.db, attempt, 'failed', outcome)
    const tail = !attempt.tail && attempt.attempt >= PHASE_ATTEMPTS
    await failAttempt(deps.db, attempt, { unsure: true, tail, counted: true }, outcome)
    if (tail) return
    // The queue keeps the reason of a failed job: a code, never what the API said.
    throw new Error(outcome.status === undefined ? 'unavailable' : `status ${outcome.status}`)
  }

  /** Puts the job back without counting it as tried, and lets no worker of this queue start another one for a while. */
  async function giveBack(ms: number): Promise<void> {
    await worker.rateLimit(ms)
    throw Worker.RateLimitError()
  }

  return worker
}
