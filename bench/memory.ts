import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Peak resident memory in bytes. On Linux, `maxRSS` of `resourceUsage` includes the parent process before the fork, so
 * this reads `VmHWM` of `/proc` where it exists.
 */
export function peakMemory(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    if (kilobytes !== undefined) return Number(kilobytes) * 1024
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024
}

/** Restarts the measurement of the peak. Does nothing where the kernel does not allow it. */
export function resetPeakMemory(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // Not Linux, or no permission.
  }
}
