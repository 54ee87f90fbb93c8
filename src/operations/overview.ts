import type { Kysely } from 'kysely'
import { figuresOf, isPastDue, type SyncFigures, type WatchedSync } from '../store/figures.ts'
import { pausedSyncs } from '../store/paused-syncs.ts'
import { runsUnderWay } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { RunCounts, RunState, StoredBlock, SyncPause, Wait } from './control.ts'
import { isDoubted } from './doubted.ts'
import { pauseView } from './paused.ts'

/**
 * The first that applies. `waiting`: an API pause. `late`: three scheduled runs were missed since the last success,
 * decision or resumption. `new`: no run has ended yet. `doubted`: some changes wait for a better read.
 */
export type SyncState =
  | 'paused'
  | 'failing'
  | 'asking'
  | 'waiting'
  | 'late'
  | 'new'
  | 'doubted'
  | 'rejected'
  | 'ok'

/** Times are ISO 8601, UTC. */
export interface SyncOverview {
  readonly sync: string
  readonly state: SyncState
  readonly underWay: { readonly run: number; readonly state: RunState } | null
  readonly lastAttempt: string | null
  readonly lastSuccess: string | null
  readonly lastFullRead: string | null
  /** The next scheduled time; null without a schedule. */
  readonly next: string | null
  readonly source: { readonly users: number; readonly groups: number } | null
  readonly directory: { readonly users: number; readonly groups: number } | null
  readonly failures: number
  readonly error: string | null
  readonly asking: SyncFigures['asking']
  /** Rejected changes, of the last whole run or newer. */
  readonly rejected: RejectedChanges | null
  /** Blocks of the last whole run that a better read ends. */
  readonly doubted: { readonly run: number; readonly blocks: readonly StoredBlock[] } | null
  readonly quarantined: number
  readonly pending: number
  readonly wait: Wait | null
  readonly paused: SyncPause | null
  readonly token: { readonly secondsLeft: number; readonly isSoon: boolean } | null
}

/** No `rejected`: the rejection is newer than the last run. */
export interface RejectedChanges {
  readonly rejected: RunCounts['rejected']
  readonly lastRejection: NonNullable<RunCounts['lastRejection']>
}

export interface OverviewSync extends WatchedSync {
  readonly next: Date | undefined
  /** The time since which three scheduled runs were missed; undefined without a schedule. */
  readonly due: (figures: SyncFigures) => Date | undefined
}

export async function overviewOf(
  db: Kysely<Tables>,
  syncs: readonly OverviewSync[],
): Promise<readonly SyncOverview[]> {
  const [figures, pauses, active] = await Promise.all([
    figuresOf(db, syncs),
    pausedSyncs(db),
    runsUnderWay(db),
  ])
  return figures.map((each, place) => {
    const { next, due } = syncs[place]!
    const pause = pauses.get(each.sync)
    const underWay = active.find(({ sync }) => sync === each.sync)
    return {
      sync: each.sync,
      state: stateOf(each, due(each)),
      underWay: underWay === undefined ? null : { run: underWay.run, state: underWay.state },
      next: next?.toISOString() ?? null,
      paused: pause === undefined ? null : pauseView(pause),
      ...ofFigures(each),
    }
  })
}

function ofFigures(figures: SyncFigures) {
  const { lastAttempt, lastSuccess, lastFullRead, planned, pause } = figures
  return {
    lastAttempt: lastAttempt?.toISOString() ?? null,
    lastSuccess: lastSuccess?.toISOString() ?? null,
    lastFullRead: lastFullRead?.toISOString() ?? null,
    source: planned && { users: planned.counts.sourceUsers, groups: planned.counts.sourceGroups },
    directory: planned && { users: planned.counts.directoryUsers, groups: planned.counts.directoryGroups },
    failures: figures.failures,
    error: figures.error,
    asking: figures.asking,
    rejected: rejectedOf(figures),
    doubted: doubtedOf(figures),
    quarantined: figures.quarantined,
    pending: figures.pending,
    wait: pause && { at: pause.ends.toISOString(), why: pause.why },
    token: figures.token,
  }
}

function rejectedOf({ planned, newRejection }: SyncFigures): RejectedChanges | null {
  const { rejected = {}, lastRejection = null } = planned?.counts ?? {}
  const last = newRejection ?? lastRejection
  return last && { rejected, lastRejection: last }
}

function doubtedOf({ planned }: SyncFigures): SyncOverview['doubted'] {
  const blocks = planned?.blocks.filter((block) => isDoubted(block) && block.changes > 0) ?? []
  return blocks.length === 0 ? null : { run: planned!.run, blocks }
}

function stateOf(figures: SyncFigures, due: Date | undefined): SyncState {
  const { isPaused, failures, asking, pause, lastAttempt, lastSuccess } = figures
  if (isPaused) return 'paused'
  if (failures > 0) return 'failing'
  if (asking !== null) return 'asking'
  if (pause !== null) return 'waiting'
  if (lastAttempt === null || lastSuccess === null) return 'new'
  if (isPastDue(figures, due)) return 'late'
  if (doubtedOf(figures) !== null) return 'doubted'
  return rejectedOf(figures) === null ? 'ok' : 'rejected'
}
