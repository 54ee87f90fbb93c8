import type { LeaseTimes } from '../store/lease.ts'
import { LONGEST_MS } from '../store/pause.ts'

/** How long the parts of a process wait, in milliseconds. Tests pass shorter ones. */
export interface Times {
  readonly lease: LeaseTimes
  readonly fence: FenceTimes
  readonly retry: RetryTimes
  readonly limited: LimitedTimes
  readonly outage: OutageTimes
  readonly canary: CanaryTimes
  readonly jobs: JobTimes
  readonly daemon: DaemonTimes
  readonly notify: NotifyTimes
}

export interface FenceTimes {
  /** Between two looks whether a run is still the current one. */
  readonly look: number
  /**
   * Without an answer of the store for so long, nobody knows whether the run is still the current one: nothing is sent.
   */
  readonly blind: number
  /**
   * How soon after it was overtaken no request of a run is under way any more: `blind` and the client's time-out of a
   * write, with a margin.
   */
  readonly settle: number
  /** The same for a process that is known to be dead: only what it had sent may still be under way. */
  readonly settleDead: number
  /** A process that is frozen within a transaction keeps rows locked; the server ends the transaction after this time. */
  readonly idle: number
}

/** Before a change that failed is tried again; the client's own retries of seconds come on top. */
export interface RetryTimes {
  readonly phase: number
  /** Before the second try at the end of the run; doubles with each further one. */
  readonly tail: number
  /** Before an entry is created again that the service did not create in time: it may still be doing so. */
  readonly timedOut: number
}

export interface LimitedTimes {
  /** A service that asks with 429 for a longer pause is asked again after this time; at most `LONGEST_MS`. */
  readonly longest: number
}

export interface OutageTimes {
  /** From the first failure to the next request, and at most. */
  readonly firstProbe: number
  readonly lastProbe: number
  /** Without any change reaching a final state for so long, the run gives up. */
  readonly giveUp: number
}

export interface CanaryTimes {
  /**
   * Before an entry that does not show what was sent is looked at again; doubles with each further look. And how long it
   * is waited for in all.
   */
  readonly look: { readonly first: number; readonly giveUp: number }
}

export interface JobTimes {
  readonly lock: number
  readonly stalled: number
  /** For how long a Redis that takes connections is waited for. */
  readonly open: number
  /** How soon after a failure of the queue's server a worker asks it again. */
  readonly askAgain: number
  /** Without progress for so long, jobs that vanished are added again. */
  readonly sweep: number
  /** The longest pause between two counts of what is left: while changes are applied, and while nothing moves. */
  readonly count: { readonly moving: number; readonly idle: number }
}

export interface DaemonTimes {
  /** Between two looks for runs that nobody was woken for. */
  readonly lookForWork: number
  readonly restoreSchedules: number
  /** How long a command waits for a daemon that has opened its store and does not listen yet. */
  readonly starting: number
  /** Before a run asks a store again that is away. */
  readonly storeAway: number
}

export interface NotifyTimes {
  /** Between two looks for what a person is to be told of. */
  readonly look: number
  /** How long an attempt to deliver may take, until another process tries. */
  readonly claim: number
  /** Before the second attempt; each further pause is twice as long, up to `lastRetry`. */
  readonly firstRetry: number
  readonly lastRetry: number
  /** A notification of this age is given up. */
  readonly giveUp: number
  /** For so long runs must not fail again until somebody is told that they run. */
  readonly settled: number
}

export const TIMES: Times = {
  lease: { expiry: 15_000, renewal: 4000, blocked: 300_000 },
  fence: { look: 1000, blind: 4000, settle: 20_000, settleDead: 5000, idle: 30_000 },
  retry: { phase: 5000, tail: 10_000, timedOut: 60_000 },
  limited: { longest: LONGEST_MS },
  outage: { firstProbe: 2000, lastProbe: 60_000, giveUp: 600_000 },
  canary: { look: { first: 250, giveUp: 8000 } },
  jobs: {
    lock: 10_000,
    stalled: 5000,
    open: 8000,
    askAgain: 1000,
    sweep: 5000,
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
