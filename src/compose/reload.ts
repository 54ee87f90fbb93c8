import { setTimeout as sleep } from 'node:timers/promises'
import { socketPath } from '../base/socket/socket.ts'
import type { ReloadReport } from '../operations/reload.ts'
import { reloadRemotely } from '../operations/remote.ts'
import { DirsyncdError } from '../base/errors.ts'
import {
  DAEMON,
  type DataDirOwner,
  describeOwner,
  ownerInWords,
  type OwnerInWords,
  ownerOf,
} from '../base/database/owner.ts'

export interface ReloadOptions {
  readonly signal: AbortSignal
  /** Called once while the daemon is starting and accepts no commands. */
  readonly onWait: (owner: OwnerInWords) => void
  /** Milliseconds; default half a minute. */
  readonly patienceMs?: number
}

/** A daemon that opens a large store, or the history of a new one, takes a while. */
const PATIENCE_MS = 30_000

/**
 * A starting daemon may have read the file before it was changed, so this waits for it. Throws `daemon-unreachable`
 * where none runs.
 */
export async function reloadDaemon(dataDir: string, options: ReloadOptions): Promise<ReloadReport> {
  const { signal, onWait, patienceMs = PATIENCE_MS } = options
  const deadline = performance.now() + patienceMs
  for (let waits = false; ; waits = true) {
    const report = await reloadRemotely(socketPath(dataDir))
    if (report !== undefined) return report
    const owner = await ownerOf(dataDir)
    if (owner?.command !== DAEMON) throw noDaemon(dataDir)
    if (performance.now() > deadline) throw silentDaemon(owner, patienceMs)
    if (!waits) onWait(ownerInWords(owner))
    await sleep(200)
    signal.throwIfAborted()
  }
}

function noDaemon(dataDir: string): DirsyncdError {
  return new DirsyncdError(
    'daemon-unreachable',
    `No daemon runs with the data directory ${dataDir}, so there is nothing to reload; one that was started with ` +
      'another dataDir gets its configuration by SIGHUP.',
  )
}

function silentDaemon(owner: DataDirOwner, patienceMs: number): DirsyncdError {
  const seconds = Math.round(patienceMs / 1000)
  return new DirsyncdError(
    'daemon-unreachable',
    `The configuration was not reloaded: ${describeOwner(owner)} took no commands within ${seconds} s; see its log, ` +
      'and repeat the command.',
  )
}
