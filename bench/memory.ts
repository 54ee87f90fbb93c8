import { readFileSync, writeFileSync } from 'node:fs'

/**
 * The most memory that was ever resident, in bytes. Linux hands the `maxRSS` of `resourceUsage` on from the process that
 * forked this one, so the kernel's own line about this address space is read where there is one.
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

/** From here on the peak is a new one. Where the kernel does not allow that, the old one stays. */
export function resetPeakMemory(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // Not Linux, or not ours to reset.
  }
}
