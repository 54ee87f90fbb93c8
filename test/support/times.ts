import { type Times, TIMES } from '../../src/queue/times.ts'

/**
 * About a tenth of the production times. But on the busiest machine no process loses its lease, and none stops sending
 * because the store is slow to answer (`blind`): its changes would be given back, and looked up before they are sent
 * again. `settle` follows; a process that is known to be dead is not waited for so long.
 */
export const QUICK: Times = {
  lease: { ...TIMES.lease, expiry: 120_000 },
  fence: { look: 250, blind: 10_000, settle: 11_000, settleDead: 500, removals: 30_000, idle: 5000 },
  retry: { phase: 300, stage: 200, timedOut: 2000 },
  limited: TIMES.limited,
  outage: { firstProbe: 200, lastProbe: 2000, giveUp: 600_000 },
  verification: { look: { first: 50, giveUp: 800 } },
  jobs: {
    lock: 10_000,
    stalled: 5000,
    open: 8000,
    askAgain: 100,
    count: { moving: 40, idle: 200 },
  },
  notify: { look: 500, claim: 5000, firstRetry: 200, lastRetry: 2000, giveUp: 60_000, settled: 0 },
  daemon: { lookForWork: 100, restoreSchedules: 3000, starting: TIMES.daemon.starting, storeAway: 100 },
}

/**
 * A tenth of the production times, so that a test of minutes takes seconds and keeps its proportions; a third for the
 * lease, for the same reason. Nobody has the patience for a tenth of the longest pause.
 */
export const TENTH: Times = {
  ...divided(TIMES, 10),
  lease: divided(TIMES.lease, 3),
  limited: { longest: 20_000 },
}

/** For tests that outlast a lease, or the longest pause that a service can ask for. */
export const INTERLEAVED: Times = {
  ...TENTH,
  lease: { ...TENTH.lease, expiry: 3000, renewal: 600 },
  limited: { longest: 8000 },
}

function divided<T extends object>(times: T, by: number): T {
  const shorter = Object.entries(times).map(([name, value]: [string, number | object]) => {
    return [name, typeof value === 'number' ? value / by : divided(value, by)] as const
  })
  return Object.fromEntries(shorter) as T
}
