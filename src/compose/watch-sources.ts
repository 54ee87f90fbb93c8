import type { SyncConfig } from '../config/config.ts'
import { watchCsv } from '../source/csv/watch.ts'
import { addRun, waitingWholeRun } from '../store/runs.ts'
import { type Site, targetOf } from './site.ts'

type Wake = (sync: string) => Promise<void>

export function isWatched({ source }: SyncConfig): boolean {
  return source.type === 'csv' && source.options.watch === true
}

/**
 * Requests a run of the sync when the files of its source change, if the source has `watch: true`. All changes during a
 * run together request one more run.
 */
export async function watchSource(
  stack: AsyncDisposableStack,
  sync: SyncConfig,
  site: Site,
  wake: Wake,
): Promise<void> {
  if (sync.source.type !== 'csv' || !isWatched(sync)) return
  const log = site.log.child({ sync: sync.name })
  stack.use(await watchCsv(sync.source.options, () => requestRun(sync, site, wake), log))
}

/** Requests a run of the whole sync, unless one waits. */
export async function requestRun(sync: SyncConfig, { store: { db } }: Site, wake: Wake): Promise<void> {
  if ((await waitingWholeRun(db, sync.name)) === undefined) {
    await addRun(db, { sync: sync.name, target: targetOf(sync), mode: 'sync', trigger: 'schedule' })
  }
  await wake(sync.name)
}
