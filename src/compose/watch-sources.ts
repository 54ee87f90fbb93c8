import type { Config, SyncConfig } from '../config/config.ts'
import { watchCsv } from '../source/csv/watch.ts'
import { addRun, waitingWholeRun } from '../store/runs.ts'
import { type Site, targetOf } from './site.ts'

/**
 * Requests a run of a sync when the files of its source change, if the source has `watch: true`. All changes during a
 * run together request one more run.
 */
export async function watchSources(
  stack: AsyncDisposableStack,
  config: Config,
  site: Site,
  wake: (sync: string) => Promise<void>,
): Promise<void> {
  const { db } = site.store

  async function requestRun(sync: SyncConfig): Promise<void> {
    if ((await waitingWholeRun(db, sync.name)) === undefined) {
      await addRun(db, { sync: sync.name, target: targetOf(sync), mode: 'sync', trigger: 'schedule' })
    }
    await wake(sync.name)
  }

  for (const sync of config.syncs) {
    if (sync.source.type !== 'csv' || sync.source.options.watch !== true) continue
    const log = site.log.child({ sync: sync.name })
    stack.use(await watchCsv(sync.source.options, () => requestRun(sync), log))
    // Without a schedule, a change made while no daemon ran would go unnoticed.
    if (sync.schedule === undefined) await requestRun(sync)
  }
}
