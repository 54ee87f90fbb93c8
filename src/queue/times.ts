import { LONGEST_MS } from '../store/pause.ts'

/** The waits of a process, in milliseconds. Tests pass shorter ones. */
export const TIMES = {
  /** See `LeaseTimes`. */
  lease: { expiry: 15_000, renewal: 4000, blocked: 300_000 },
  fence: {
    /** Between two checks that a run is still the current one. */
    look: 1000,
    /** Without an answer of the store for so long, the run may not be the current one any more: nothing is sent. */
    blind: 4000,
    /** An overtaken run may have requests in flight for so long: `blind`, the write time-out and a margin. */
    settle: 20_000,
    /** The same for a dead process: only requests that it had sent may be in flight. */
    settleDead: 5000,
    /** For how long after a recheck removals may be claimed, and for how long after the claim they may be sent. */
    removals: 30_000,
    /** A process frozen within a transaction keeps rows locked; the server ends the transaction after this time. */
    idle: 30_000,
  },
  /** Before a failed change is retried; the client's own retries of seconds come on top. */
  retry: {
    phase: 5000,
    /** Before the second attempt in the retry stage; doubles with each further one. */
    stage: 10_000,
    /** Before a create that timed out is retried: the service may still be working on it. */
    timedOut: 60_000,
  },
  /** The longest pause after a 429, whatever the service asks for; at most `LONGEST_MS`. */
  limited: { longest: LONGEST_MS },
  outage: {
    /** From the first failure to the next request, and at most. */
    firstProbe: 2000,
    lastProbe: 60_000,
    /** When no change becomes final for so long, the run fails. */
    giveUp: 600_000,
  },
  /** Before an entry that differs from what was sent is read again (doubles each time), and in all. */
  verification: { look: { first: 250, giveUp: 8000 } },
  jobs: {
    lock: 10_000,
    stalled: 5000,
    /** For how long a Redis that accepts connections is waited for. */
    open: 8000,
    /** From a failure of the queue's server to a worker's next request. */
    askAgain: 1000,
    /** The longest pause between two counts of waiting changes: while changes are applied, and while nothing moves. */
    count: { moving: 200, idle: 1000 },
  },
  daemon: {
    /** Between two lookups of runs that no job announced. */
    lookForWork: 1000,
    restoreSchedules: 30_000,
    /** How long a command waits for a daemon that has opened its store and does not listen yet. */
    starting: 15_000,
    /** Before a run retries a store that is away. */
    storeAway: 1000,
  },
  notify: {
    /** Between two lookups of due notifications. */
    look: 60_000,
    /** How long an attempt to deliver may take, until another process tries. */
    claim: 90_000,
    /** Before the second attempt; each further pause is twice as long, up to `lastRetry`. */
    firstRetry: 10_000,
    lastRetry: 1_800_000,
    giveUp: 3 * 86_400_000,
    /** How long runs must not fail before the notification that they work again. */
    settled: 1_800_000,
  },
}

export type Times = Readonly<typeof TIMES>
