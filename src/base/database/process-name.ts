import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Unique among the processes of all machines that share a store: `host:pid:start`. The start is needed because pids are
 * reused, and because containers on one host network share its name and have pid 1 each. On Linux a fourth part names
 * the pid's namespace, so that another process there can see whether this one is alive.
 */
export function processName(): string {
  const name = `${hostname()}:${process.pid}`
  const place = pidNamespace()
  const started = startOf(process.pid)
  if (place !== undefined && started !== undefined) return `${name}:${started}:${place}`
  return `${name}:${Math.round(performance.timeOrigin).toString(36)}`
}

/** `123 on web1` */
export function describeProcess(name: string): string {
  const [host, pid] = name.split(':')
  return pid === undefined ? name : `${pid} on ${host}`
}

/** False when the process lives, or when this machine cannot know. */
export function isCertainlyDead(name: string): boolean {
  const [host, digits = '', started, place] = name.split(':')
  if (host !== hostname() || place === undefined || place !== pidNamespace()) return false
  const pid = Number(digits)
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  if (!hasProcess(pid)) return true
  const startedNow = startOf(pid)
  return startedNow !== undefined && startedNow !== started
}

/** Also right where `/proc` hides the processes of other users. */
function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/**
 * One boot of one machine, with one namespace of pids and one of times: pids and start times are comparable only there.
 * Containers have namespaces of their own. Undefined where it is not known.
 */
function pidNamespace(): string | undefined {
  try {
    // This /proc is of another namespace, so its numbers are those of other processes.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    const parts = [
      readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
      readlinkSync('/proc/self/ns/pid'),
      readlinkSync('/proc/self/ns/time'),
    ]
    return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12)
  } catch {
    return undefined
  }
}

/** In clock ticks since the boot; undefined where `/proc` does not show it. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name, which may contain blanks and brackets; the start is the 22nd.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return start !== undefined && /^\d+$/.test(start) ? start : undefined
  } catch {
    return undefined
  }
}
