/** CPU time of the work that is measured, in microseconds. */
const WORK = 10_000

/**
 * A bound in milliseconds for a machine that may be busy with other work: as many times longer than on an idle one as
 * this process takes longer for the same work at this moment.
 */
export function patience(ms: number): number {
  const began = performance.now()
  const before = process.cpuUsage()
  let worked = 0
  while (worked < WORK) {
    const { user, system } = process.cpuUsage(before)
    worked = user + system
  }
  return ms * Math.max(1, (performance.now() - began) / (worked / 1000))
}

/** Milliseconds of CPU that this process used since: for work that waits for nothing, however busy the machine is. */
export function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
