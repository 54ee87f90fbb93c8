import { monitorEventLoopDelay } from 'node:perf_hooks'

/** CPU time of the measurement, in microseconds. */
const MEASURED_CPU = 10_000

/**
 * Measures the load of the machine before and after some work. The function that it returns scales a time limit
 * (milliseconds) of the work to the higher one.
 */
export function watchLoad(): (ms: number) => number {
  const before = slowdown()
  return (ms) => ms * Math.max(before, slowdown())
}

/** The ratio of wall time to CPU time of this process, at least 1. */
function slowdown(): number {
  const began = performance.now()
  const before = process.cpuUsage()
  let worked = 0
  while (worked < MEASURED_CPU) {
    const { user, system } = process.cpuUsage(before)
    worked = user + system
  }
  return Math.max(1, (performance.now() - began) / (worked / 1000))
}

/** Milliseconds of CPU time that this process has used since `before`; unlike wall time, independent of the load. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** How late a request may be without a second getting too many: what the request budget keeps in reserve (ms). */
const RESERVE_MS = 20

/**
 * Watches for how long this process gets no CPU. `allowed` is the number of requests that a second may show for a
 * limit: on a busy machine requests that were sent in time arrive together, because the sender, the receiver or both
 * were stalled.
 */
export function watchStalls(): { allowed(limit: number): number } {
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  return {
    allowed(limit) {
      delays.disable()
      const stalledMs = delays.max / 1e6
      return limit + (Math.max(0, 2 * stalledMs - RESERVE_MS) * limit) / 1000
    },
  }
}
