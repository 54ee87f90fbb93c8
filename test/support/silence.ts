import type { Socket } from 'node:net'
import { afterEach, beforeEach, vi } from 'vitest'

/** Longer than any time-out of an LDAP source in these tests. */
const LONG_MS = 70_000

/**
 * Stops the timers of a test file, so that no machine is too slow for a healthy server. The function that it returns lets
 * time pass for a connection on which the server has fallen silent, until the connection is given up.
 */
export function useTimeOfSilence(): (connection: Pick<Socket, 'destroyed' | 'once'>) => void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  return (connection) => {
    const looking = setInterval(() => {
      // Behind what has arrived: the end of this connection, or what came before the silence.
      setImmediate(() => {
        if (connection.destroyed) clearInterval(looking)
        else vi.advanceTimersByTime(LONG_MS)
      })
    }, 50)
    connection.once('close', () => clearInterval(looking))
  }
}
