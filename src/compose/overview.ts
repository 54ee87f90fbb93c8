import type { Config } from '../config/config.ts'
import { explainingOutage } from '../operations/local.ts'
import { overviewOf, type SyncOverview } from '../operations/overview.ts'
import { nextCall } from '../sync/schedule.ts'
import { dueOf } from './readiness.ts'
import { type Site, watchedSyncs } from './site.ts'

/** Reads the configuration at each call. */
export function createOverview(site: Site, config: () => Config): () => Promise<readonly SyncOverview[]> {
  return explainingOutage(() => {
    const { syncs } = config()
    const now = new Date()
    const watched = watchedSyncs(syncs).map((each, place) => {
      const sync = syncs[place]!
      const next = sync.schedule && nextCall(sync.schedule, sync.name, now)
      return { ...each, next, due: (figures: Parameters<typeof dueOf>[1]) => dueOf(sync, figures, now) }
    })
    return overviewOf(site.store.db, watched)
  })
}
