import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { csvOf, entriesOf } from './people.ts'
import { startContender } from './processes.ts'
import { startInstantService } from './services.ts'

/** The CPU time of a daemon that has nothing to do. */
export interface IdleFigures {
  readonly people: number
  readonly seconds: number
  readonly cpuMs: number
  readonly cpuSecondsPerHour: number
}

const PEOPLE = 1000
/** By then, V8 has collected the garbage of the run, which took 0.2 s of CPU within 30 s. */
const SETTLE_MS = 40_000
const IDLE_MS = 120_000

/** A daemon with an embedded store, a CSV file and a daily schedule, between two runs. */
export async function benchIdle(): Promise<IdleFigures[]> {
  const entries = entriesOf(PEOPLE, 0)
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
  await using daemon = await startContender('daemon', task)
  await daemon.run()
  await sleep(SETTLE_MS)
  const before = await daemon.cpuMs()
  await sleep(IDLE_MS)
  const cpuMs = (await daemon.cpuMs()) - before
  const seconds = IDLE_MS / 1000
  return [{ people: PEOPLE, seconds, cpuMs, cpuSecondsPerHour: ((cpuMs / 1000) * 3600) / seconds }]
}
