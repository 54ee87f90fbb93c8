import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import type { BareJobsTask } from './contenders/bare-jobs.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { csvOf, entriesOf } from './people.ts'
import { type OneProcess, startContender } from './processes.ts'
import { startInstantService } from './services.ts'

/** The CPU time of a daemon that has nothing to do, and of its floor in the same time. */
export interface IdleFigures {
  readonly people: number
  readonly seconds: number
  readonly ours: IdleCpu
  readonly floor: IdleCpu
  readonly ratio: number
}

export interface IdleCpu {
  readonly cpuMs: number
  readonly cpuSecondsPerHour: number
}

const PEOPLE = 1000
/** By then, V8 has collected the garbage of the run, which took 0.2 s of CPU within 30 s. */
const SETTLE_MS = 40_000
const IDLE_MS = 120_000

/**
 * A daemon with an embedded store, a CSV file and a daily schedule, between two runs. The floor is one BullMQ worker on
 * an embedded store of its own, which waits for jobs.
 */
export async function benchIdle(): Promise<IdleFigures[]> {
  const entries = entriesOf(PEOPLE)
  await using service = await startInstantService(entries)
  await using dir = await tempDir()
  await writeFile(join(dir.path, 'users.csv'), csvOf(entries))
  const map = { external_id: 'id', email: 'mail', name: 'name', employee_id: 'number' }
  const sync = {
    name: 'corp',
    schedule: '1d',
    source: { type: 'csv', users: { path: './users.csv', map } },
    directory: directorySection(service),
  }
  const config = join(dir.path, 'dirsyncd.yaml')
  await writeFile(config, stringify(embeddedConfig([sync], { log: { level: 'warn' } })))
  const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: PEOPLE, applied: 0 } }
  const floorTask: BareJobsTask = { dataDir: join(dir.path, 'bare'), jobs: 0, concurrency: 1 }
  await using bare = await startContender('bare-jobs', floorTask)
  await using daemon = await startContender('daemon', task)
  await daemon.run()
  await sleep(SETTLE_MS)
  const [ours, floor] = await Promise.all([idleCpu(daemon), idleCpu(bare)])
  const ratio = ours.cpuMs / floor.cpuMs
  return [{ people: PEOPLE, seconds: IDLE_MS / 1000, ours, floor, ratio }]
}

async function idleCpu(idle: OneProcess): Promise<IdleCpu> {
  const before = await idle.cpuMs()
  await sleep(IDLE_MS)
  const cpuMs = (await idle.cpuMs()) - before
  return { cpuMs, cpuSecondsPerHour: (cpuMs * 3600) / IDLE_MS }
}
