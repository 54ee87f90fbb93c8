/** CPU time of the measurement, in microseconds. */
const MEASURED_CPU = 10_000

/**
 * Scales a time limit (milliseconds) to the current load of the machine: multiplies it by the ratio of wall time to CPU
 * time of this process, measured now.
 */
export function scaleToLoad(ms: number): number {
  const began = performance.now()
  const before = process.cpuUsage()
  let worked = 0
  while (worked < MEASURED_CPU) {
    const { user, system } = process.cpuUsage(before)
    worked = user + system
  }
  return ms * Math.max(1, (performance.now() - began) / (worked / 1000))
}

/** Milliseconds of CPU time that this process has used since `before`; unlike wall time, independent of the load. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
