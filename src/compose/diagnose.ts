import { arch, availableParallelism, release, totalmem, type as systemName, uptime } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type Diagnostics, type DiagnosticsRequest, diagnose } from '../control/bundle/diagnostics.ts'
import { describeProcess, processName } from '../store/process-name.ts'
import type { Site } from './site.ts'
import { programVersion } from './version.ts'

/** What a running daemon says of itself and of its stores. */
export interface DaemonDiagnostics {
  readonly process: Readonly<Record<string, unknown>>
  readonly queue: Readonly<Record<string, unknown>>
  readonly diagnostics: Diagnostics
}

export async function diagnoseDaemon(
  { store, backend }: Site,
  request: DiagnosticsRequest,
): Promise<DaemonDiagnostics> {
  return {
    process: processFacts(),
    queue: backend.redis === undefined ? { kind: backend.kind } : await redisFacts(backend.redis),
    diagnostics: await diagnose(store.db, request),
  }
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
  // The client waits without a limit while Redis is away.
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
