import type { Config, SyncConfig } from '../config/config.ts'
import { watchCsv } from '../source/csv/watch.ts'
import { addRun, nextWaitingRun } from '../store/runs.ts'
import { type Site, targetOf } from './site.ts'

/**
 * Asks for a run of a sync when the files of its source change, where the configuration says so. A change during a run
 * is the next run's; several before it are one.
 */
export async function watchSources(
  stack: AsyncDisposableStack,
  config: Config,
  site: Site,
  wake: (sync: string) => Promise<void>,
): Promise<void> {
  const { db } = site.store

  async function ask(sync: SyncConfig): Promise<void> {
    const waiting = await nextWaitingRun(db, sync.name)
    // A waiting plan, or a run of a single entry, is no answer to this change.
    if (waiting?.mode !== 'sync' || waiting.only_entries !== null) {
      await addRun(db, { sync: sync.name, target: targetOf(sync), mode: 'sync', trigger: 'schedule' })
    }
    await wake(sync.name)
  }

  for (const sync of config.syncs) {
    if (sync.source.type !== 'csv' || sync.source.options.watch !== true) continue
    const log = site.log.child({ sync: sync.name })
    stack.use(await watchCsv(sync.source.options, () => ask(sync), log))
    // Without a schedule nobody else would see what changed while no daemon ran.
    if (sync.schedule === undefined) await ask(sync)
  }
}
