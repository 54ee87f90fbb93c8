import type { LeaseTimes } from '../store/lease.ts'
import { LONGEST_MS } from '../store/pause.ts'

/** The waits of a process, in milliseconds. Tests pass shorter ones. */
export interface Times {
  readonly lease: LeaseTimes
  readonly fence: FenceTimes
  readonly retry: RetryTimes
  readonly limited: LimitedTimes
  readonly outage: OutageTimes
  readonly verification: VerificationTimes
  readonly jobs: JobTimes
  readonly daemon: DaemonTimes
  readonly notify: NotifyTimes
}

interface FenceTimes {
  /** Between two checks that a run is still the current one. */
  readonly look: number
  /** Without an answer of the store for so long, the run may not be the current one any more: nothing is sent. */
  readonly blind: number
  /** An overtaken run may have requests in flight for so long: `blind`, the write time-out and a margin. */
  readonly settle: number
  /** The same for a dead process: only requests that it had sent may be in flight. */
  readonly settleDead: number
  /** A process frozen within a transaction keeps rows locked; the server ends the transaction after this time. */
  readonly idle: number
}

/** Before a failed change is retried; the client's own retries of seconds come on top. */
export interface RetryTimes {
  readonly phase: number
  /** Before the second attempt in the retry stage; doubles with each further one. */
  readonly stage: number
  /** Before a create that timed out is retried: the service may still be working on it. */
  readonly timedOut: number
}

interface LimitedTimes {
  /** The longest pause after a 429, whatever the service asks for; at most `LONGEST_MS`. */
  readonly longest: number
}

interface OutageTimes {
  /** From the first failure to the next request, and at most. */
  readonly firstProbe: number
  readonly lastProbe: number
  /** When no change becomes final for so long, the run fails. */
  readonly giveUp: number
}

interface VerificationTimes {
  /** Before an entry that differs from what was sent is read again (doubles each time), and in all. */
  readonly look: { readonly first: number; readonly giveUp: number }
}

export interface JobTimes {
  readonly lock: number
  readonly stalled: number
  /** For how long a Redis that accepts connections is waited for. */
  readonly open: number
  /** From a failure of the queue's server to a worker's next request. */
  readonly askAgain: number
  /** The longest pause between two counts of waiting changes: while changes are applied, and while nothing moves. */
  readonly count: { readonly moving: number; readonly idle: number }
}

interface DaemonTimes {
  /** Between two lookups of runs that no job announced. */
  readonly lookForWork: number
  readonly restoreSchedules: number
  /** How long a command waits for a daemon that has opened its store and does not listen yet. */
  readonly starting: number
  /** Before a run retries a store that is away. */
  readonly storeAway: number
}

interface NotifyTimes {
  /** Between two lookups of due notifications. */
  readonly look: number
  /** How long an attempt to deliver may take, until another process tries. */
  readonly claim: number
  /** Before the second attempt; each further pause is twice as long, up to `lastRetry`. */
  readonly firstRetry: number
  readonly lastRetry: number
  readonly giveUp: number
  /** How long runs must not fail before the notification that they work again. */
  readonly settled: number
}

export const TIMES: Times = {
  lease: { expiry: 15_000, renewal: 4000, blocked: 300_000 },
  fence: { look: 1000, blind: 4000, settle: 20_000, settleDead: 5000, idle: 30_000 },
  retry: { phase: 5000, stage: 10_000, timedOut: 60_000 },
  limited: { longest: LONGEST_MS },
  outage: { firstProbe: 2000, lastProbe: 60_000, giveUp: 600_000 },
  verification: { look: { first: 250, giveUp: 8000 } },
  jobs: {
    lock: 10_000,
    stalled: 5000,
    open: 8000,
    askAgain: 1000,
    count: { moving: 200, idle: 1000 },
  },
  daemon: { lookForWork: 1000, restoreSchedules: 30_000, starting: 15_000, storeAway: 1000 },
  notify: {
    look: 60_000,
    claim: 90_000,
    firstRetry: 10_000,
    lastRetry: 1_800_000,
    giveUp: 3 * 86_400_000,
    settled: 1_800_000,
  },
}
