import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { directorySection } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import { type BenchOptions, type Comparison, comparisonOf, figuresOf } from './compare.ts'
import type { BareJobsTask } from './contenders/bare-jobs.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { entriesOf } from './people.ts'
import { startContender } from './processes.ts'
import { startInstantService } from './services.ts'
import { writeCsvSync } from './sync-folder.ts'

const PEOPLE = 1000
/** By then, V8 has collected the garbage of the run, which took 0.2 s of CPU within 30 s. */
const SETTLE_MS = 40_000
const IDLE_MS = 120_000

/**
 * A daemon with an embedded store, a CSV file and a daily schedule, between two runs. The floor is one BullMQ worker on
 * an embedded store of its own, which waits for jobs in the same time.
 */
export async function benchIdle({ people = PEOPLE }: BenchOptions): Promise<Comparison[]> {
  const entries = entriesOf(people)
  await using service = await startInstantService(entries)
  await using dir = await tempDir()
  const sync = { schedule: '1d', directory: directorySection(service) }
  const config = await writeCsvSync(dir.path, entries, sync)
  const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: people, applied: 0 } }
  const floorTask: BareJobsTask = { dataDir: join(dir.path, 'bare'), jobs: 0, concurrency: 1 }
  await using floor = await startContender('bare-jobs', floorTask)
  await using ours = await startContender('daemon', task)
  await ours.run()
  await sleep(SETTLE_MS)
  const times = await Promise.all([ours.idle(IDLE_MS), floor.idle(IDLE_MS)])
  const subject = {
    title: `a daemon without work, ${people} users`,
    floorTitle: 'a BullMQ worker on an embedded store',
    service: service.kind,
    count: 0,
  }
  const figures = [
    figuresOf([times[0]], 0, await ours.close()),
    figuresOf([times[1]], 0, await floor.close()),
  ] as const
  const [anHour, floorAnHour] = times.map(({ cpuMs }) => ((cpuMs / IDLE_MS) * 3600).toFixed(1))
  const notes = [`${anHour} s of CPU an hour, the floor ${floorAnHour} s`]
  return [{ ...comparisonOf(subject, ...figures), notes }]
}
