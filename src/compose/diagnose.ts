import { arch, availableParallelism, release, totalmem, type as systemName, uptime } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type Diagnostics, diagnose, type Missing, missingPart } from '../operations/bundle/diagnostics.ts'
import type { Redaction } from '../operations/bundle/redact.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import { isAway, whyAway } from '../base/database/outage.ts'
import { describeProcess, processName } from '../base/database/process-name.ts'
import type { Site } from './site.ts'
import { withinTime } from '../base/within-time.ts'
import { programVersion } from '../base/process/version.ts'

/** The daemon's own state and its stores; a part that could not be read is left out. */
export interface DaemonDiagnostics {
  readonly process?: Readonly<Record<string, unknown>> | undefined
  readonly queue?: Readonly<Record<string, unknown>> | undefined
  readonly diagnostics?: Diagnostics | undefined
  readonly missing: readonly Missing[]
}

export type OrNothing = <T>(part: string, work: () => Promise<T> | T) => Promise<T | undefined>

export function collectInto(missing: Missing[]): OrNothing {
  return async (part, work) => {
    try {
      return await work()
    } catch (error) {
      missing.push(missingPart(part, error))
      return undefined
    }
  }
}

export async function diagnoseDaemon(
  { store, backend: { kind, redis } }: Site,
  redaction: Redaction,
): Promise<DaemonDiagnostics> {
  const missing: Missing[] = []
  const orNothing = collectInto(missing)
  return {
    process: await orNothing('daemon', processFacts),
    queue: await orNothing('queue', () => (redis === undefined ? { kind } : redisFacts(redis))),
    diagnostics: await orNothing('store', () => diagnoseStore(store, redaction)),
    missing,
  }
}

/** In milliseconds, for the store's first answer. */
const STORE_WAIT_MS = 8000

/** Throws `store-unavailable` where the store is away or hangs. */
export async function diagnoseStore(store: Site['store'], redaction: Redaction): Promise<Diagnostics> {
  try {
    await withinTime(store.pool.query('SELECT 1'), STORE_WAIT_MS)
  } catch (error) {
    throw storeIsAway(error)
  }
  try {
    return await diagnose(store.db, redaction)
  } catch (error) {
    throw isAway(error) ? storeIsAway(error) : error
  }
}

function storeIsAway(cause: unknown): DirsyncdError {
  const why = isAway(cause) ? whyAway(cause) : sentence(cause)
  const message = `The store does not answer: ${why}. Make another bundle when it does.`
  return new DirsyncdError('store-unavailable', message, { cause })
}

export function processFacts(): Readonly<Record<string, unknown>> {
  return {
    process: describeProcess(processName()),
    dirsyncd: programVersion(),
    node: process.versions.node,
    openssl: process.versions.openssl,
    system: `${systemName()} ${release()} ${arch()}`,
    processors: availableParallelism(),
    memoryBytes: {
      machine: totalmem(),
      limit: Math.min(totalmem(), process.constrainedMemory() || totalmem()),
      used: process.memoryUsage.rss(),
    },
    upSeconds: { machine: Math.round(uptime()), process: Math.round(process.uptime()) },
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

const REDIS_WAIT_MS = 5000

export async function redisFacts(redis: Redis): Promise<Readonly<Record<string, unknown>>> {
  // The client waits without a limit during an outage of Redis.
  const info = await Promise.race([redis.info(), sleep(REDIS_WAIT_MS, undefined, { ref: false })])
  if (info === undefined)
    return { kind: 'redis', error: `Redis gave no answer within ${REDIS_WAIT_MS / 1000} s.` }
  const value = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? null
  return {
    kind: 'redis',
    version: value('redis_version'),
    mode: value('redis_mode'),
    maxmemoryPolicy: value('maxmemory_policy'),
    usedMemoryBytes: Number(value('used_memory')),
    upSeconds: Number(value('uptime_in_seconds')),
  }
}
