import type { Kysely } from 'kysely'
import type { Notice, NoticeCode } from '../core/entries/snapshot.ts'
import { type ChangeFilter, listChanges, type Place } from '../store/change-list.ts'
import { openHoldOf } from '../store/holds.ts'
import { listNoticesOf } from '../store/plans.ts'
import { findRun, type RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { ChangeView, RunDetail } from './control.ts'
import { detailOf, explainingOutage, runWithChanges } from './local.ts'

export type { ChangeFilter, Place }

export interface ChangePage {
  readonly changes: readonly ChangeView[]
  /** Whether there are others in the direction in which the page was asked for. */
  readonly isMore: boolean
}

export type NumberedNotice = Notice & { readonly number: number }

/** A run, and what its sync is now. */
export interface ShownRun extends RunDetail {
  /**
   * What the sync writes to now: the directory of this run, or another one. `none`: the configuration does not have the
   * sync any more.
   */
  readonly directoryNow: 'same' | 'other' | 'none'
  /** The run of the sync that has the open hold. */
  readonly openHold: number | null
}

/** What pages show of runs with more changes than anybody reads at once. Of a run that is unknown, there are none. */
export interface Browse {
  run(run: number): Promise<ShownRun | undefined>
  changes(run: number, filter: ChangeFilter, place: Place): Promise<ChangePage>
  notices(run: number, asked: NoticesAsked): Promise<readonly NumberedNotice[]>
  /** All changes of a run in their order, in parts. */
  readonly eachChange: (run: number) => AsyncIterable<readonly ChangeView[]>
  /** All notices of a run in their order, in parts. */
  readonly eachNotice: (run: number) => AsyncIterable<readonly NumberedNotice[]>
}

export interface NoticesAsked {
  readonly code?: NoticeCode
  /** Only those with a greater number. */
  readonly after?: number
  readonly limit: number
}

/** Rows that are read at once of what is read as a whole. */
const PART = 1000

/** @param targets of the configured syncs */
export function createBrowse(db: Kysely<Tables>, targets: ReadonlyMap<string, string>): Browse {
  async function withChanges<T>(run: number, read: (run: ListedRun) => Promise<T>): Promise<T | undefined> {
    const found = await findRun(db, run)
    return found && read({ run: runWithChanges(found), state: found.state })
  }

  const changes: Browse['changes'] = explainingOutage(async (run, filter, place) => {
    const page = await withChanges(run, (shown) => listChanges(db, shown, filter, place))
    return page === undefined ? NONE : { changes: page.rows, isMore: page.isMore }
  })
  const notices: Browse['notices'] = explainingOutage((run, asked) => listNoticesOf(db, run, asked))
  return {
    changes,
    notices,
    run: explainingOutage(async (run) => {
      const found = await findRun(db, run)
      if (found === undefined) return undefined
      return {
        ...(await detailOf(db, found)),
        directoryNow: directoryNow(found, targets),
        openHold: (await openHoldOf(db, found.sync)) ?? null,
      }
    }),
    eachChange: (run) => parts(async (after) => (await changes(run, {}, { limit: PART, ...after })).changes),
    eachNotice: (run) => parts((after) => notices(run, { limit: PART, ...after })),
  }
}

type ListedRun = Pick<RunRecord, 'run' | 'state'>

function directoryNow({ sync, target }: RunRecord, targets: ReadonlyMap<string, string>) {
  const now = targets.get(sync)
  return now === undefined ? 'none' : now === target ? 'same' : 'other'
}

const NONE: ChangePage = { changes: [], isMore: false }

async function* parts<T extends { readonly number: number }>(
  read: (place: { readonly after?: number }) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[], undefined> {
  for (let rows = await read({}); rows.length > 0; rows = await read({ after: rows.at(-1)!.number })) {
    yield rows
    if (rows.length < PART) return undefined
  }
  return undefined
}
