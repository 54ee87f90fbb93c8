import type { Config, SyncConfig } from '../config/config.ts'
import { sentence } from '../base/errors.ts'
import { figuresOf, isPastDue, type SyncFigures } from '../store/figures.ts'
import { takesNoWrites } from '../base/database/outage.ts'
import { pastDue } from '../sync/schedule.ts'
import { type Site, watchedSyncs } from './site.ts'
import { withinTime } from '../base/within-time.ts'

/** For store and queue, in milliseconds. */
const PATIENCE_MS = 3000

export interface Obstacle {
  /** One public sentence. */
  readonly why: string
  /** The driver's error, for the log: it may name hosts and users. */
  readonly error?: string
}

/** `undefined` where store and queue answer. */
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
 * A store is away, or a sync has not succeeded since its schedule called for it three times. A paused sync, and one whose plan a guard stopped and that asks, is not late. A decision, a
 * resumption and the start of this daemon begin a new count of three.
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

/** The time of the third-last scheduled call; `undefined` without a schedule. For a run under way, counted from its start. */
export function dueOf({ name, schedule }: SyncConfig, figures: SyncFigures, now: Date): Date | undefined {
  const { isUnderWay, lastAttempt } = figures
  return schedule && pastDue(schedule, name, isUnderWay && lastAttempt !== null ? lastAttempt : now)
}

function isLate(figures: SyncFigures, due: Date, startedAt: Date): boolean {
  const { lastAttempt, asking, isPaused, planned } = figures
  if (isPaused || lastAttempt === null) return false
  if (asking !== null && planned?.state === 'held') return false
  return startedAt < due && isPastDue(figures, due)
}
