import type { Config, SyncConfig } from '../config/config.ts'
import { sentence } from '../base/errors.ts'
import { figuresOf, isPastDue, type SyncFigures } from '../store/figures.ts'
import { takesNoWrites } from '../base/database/outage.ts'
import { pastDue } from '../sync/schedule.ts'
import { type Site, watchedSyncs } from './site.ts'
import { withinTime } from '../base/within-time.ts'

/** How long store and queue may take, in milliseconds. */
const PATIENCE_MS = 3000

/** What keeps a process from its work. */
export interface Obstacle {
  /** In a sentence for everybody who asks. */
  readonly why: string
  /** What a driver said, which may name hosts and users: for the log. */
  readonly error?: string
}

/** Whether store or queue cannot be used; `undefined` where they answer. */
export async function whyStoresAreAway(site: Site): Promise<Obstacle | undefined> {
  const [ofStore, ofQueue] = await Promise.all([whyStoreIsAway(site), away('queue', site.backend.ping())])
  return ofStore ?? ofQueue
}

export function whyStoreIsAway({ store }: Site): Promise<Obstacle | undefined> {
  return away('store', store.pool.query('SELECT 1'))
}

async function away(what: 'store' | 'queue', work: Promise<unknown>): Promise<Obstacle | undefined> {
  try {
    await withinTime(work, PATIENCE_MS)
    return undefined
  } catch (error) {
    const does = takesNoWrites(error) ? 'takes no writes' : 'does not answer'
    return { why: `the ${what} ${does}`, error: sentence(error) }
  }
}

/**
 * Why a daemon is not ready: a store that is away, or a sync that has not succeeded since its schedule called for it
 * three times. A sync that is held or paused is not late. A person who decides or resumes it, and the start of this
 * daemon, give it the time of three calls again.
 */
export async function whyDaemonIsNotReady(
  site: Site,
  { syncs }: Config,
  startedAt: Date,
): Promise<Obstacle | undefined> {
  const obstacle = await whyStoresAreAway(site)
  if (obstacle !== undefined) return obstacle
  const now = new Date()
  const figures = await figuresOf(site.store.db, watchedSyncs(syncs))
  const late = figures.filter((each, index) => {
    const due = dueOf(syncs[index]!, each, now)
    return due !== undefined && isLate(each, due, startedAt)
  })
  if (late.length === 0) return undefined
  const [first, ...others] = late
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return {
    why: `the sync ${first!.sync} has not succeeded since its schedule called for it three times${more}`,
  }
}

/**
 * The time since which the schedule has called for the sync three times; `undefined` where it runs on demand only. A run
 * that is under way is given the time that it takes.
 */
export function dueOf({ name, schedule }: SyncConfig, figures: SyncFigures, now: Date): Date | undefined {
  const { isUnderWay, lastAttempt } = figures
  return schedule && pastDue(schedule, name, isUnderWay && lastAttempt !== null ? lastAttempt : now)
}

function isLate(figures: SyncFigures, due: Date, startedAt: Date): boolean {
  const { lastAttempt, hold, isPaused, planned } = figures
  if (isPaused || lastAttempt === null) return false
  if (hold !== null && planned?.state === 'held') return false
  return startedAt < due && isPastDue(figures, due)
}
