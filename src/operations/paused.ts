import type { Kysely } from 'kysely'
import { pausedSyncs, pauseSync, resumeSync, stopRunOfSync } from '../store/paused-syncs.ts'
import type { Tables } from '../store/tables.ts'
import type { Control, SyncPause } from './control.ts'

interface PauseDeps {
  readonly db: Kysely<Tables>
  readonly endInterrupted?: ((sync: string) => Promise<void>) | undefined
}

/** @param requireSync throws where this configuration does not have the sync */
export function pauseOperations(
  { db, endInterrupted }: PauseDeps,
  requireSync: (sync: string) => void,
): Pick<Control, 'pause' | 'resume' | 'paused'> {
  return {
    pause: async (asked) => {
      requireSync(asked.sync)
      await endInterrupted?.(asked.sync)
      const pause = pauseView(await pauseSync(db, asked))
      return { pause, stopped: (await stopRunOfSync(db, asked.sync, asked.by)) ?? null }
    },
    resume: async ({ sync }) => {
      const pause = await resumeSync(db, sync)
      return pause === undefined ? null : pauseView(pause)
    },
    paused: () => listPaused(db),
  }
}

export async function listPaused(db: Kysely<Tables>): Promise<readonly SyncPause[]> {
  return [...(await pausedSyncs(db)).values()].map(pauseView)
}

export function pauseView({ since, ...pause }: Awaited<ReturnType<typeof pauseSync>>): SyncPause {
  return { ...pause, since: since.toISOString() }
}
