import type { Kysely } from 'kysely'
import type { NoticeCode } from '../core/notice.ts'
import { type ChangeFilter, listChanges, type Place } from '../store/change-list.ts'
import { listNoticesOf } from '../store/plans.ts'
import { findRun, type RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { ChangeView, NumberedNotice, RunDetail } from './control.ts'
import { withDecisions } from './decided-changes.ts'
import { detailOf, explainingOutage } from './local.ts'
import { PART, parts } from './parts.ts'

export type { ChangeFilter, Place }

export interface ChangePage {
  readonly changes: readonly ChangeView[]
  readonly isMore: boolean
}

export interface ShownRun extends RunDetail {
  /** `none`: the sync was removed from the configuration. */
  readonly directoryNow: 'same' | 'other' | 'none'
}

/** For pages: reads parts of runs of any size. An unknown run has no rows. */
export interface Browse {
  run(run: number): Promise<ShownRun | undefined>
  changes(run: number, filter: ChangeFilter, place: Place): Promise<ChangePage>
  notices(run: number, asked: NoticesAsked): Promise<readonly NumberedNotice[]>
  readonly eachChange: (run: number) => AsyncIterable<readonly ChangeView[]>
  readonly eachNotice: (run: number) => AsyncIterable<readonly NumberedNotice[]>
}

export interface NoticesAsked {
  readonly code?: NoticeCode
  readonly after?: number
  readonly limit: number
}

export function createBrowse(db: Kysely<Tables>, targets: ReadonlyMap<string, string>): Browse {
  const changes: Browse['changes'] = explainingOutage(async (run, filter, place) => {
    const found = await findRun(db, run)
    if (found === undefined) return { changes: [], isMore: false }
    const { rows, isMore } = await listChanges(db, found, filter, place)
    return { changes: await withDecisions(db, found, rows), isMore }
  })
  const notices: Browse['notices'] = explainingOutage((run, asked) => listNoticesOf(db, run, asked))
  return {
    changes,
    notices,
    run: explainingOutage(async (run) => {
      const found = await findRun(db, run)
      if (found === undefined) return undefined
      return { ...(await detailOf(db, found)), directoryNow: directoryNow(found, targets) }
    }),
    eachChange: (run) => parts(async (after) => (await changes(run, {}, { limit: PART, ...after })).changes),
    eachNotice: (run) => parts((after) => notices(run, { limit: PART, ...after })),
  }
}

function directoryNow({ sync, target }: RunRecord, targets: ReadonlyMap<string, string>) {
  const now = targets.get(sync)
  return now === undefined ? 'none' : now === target ? 'same' : 'other'
}
