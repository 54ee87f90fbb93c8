import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Change, Op } from '../core/plan/change.ts'
import { numbersFound } from './change-texts.ts'
import type { ChangeState } from './run-types.ts'
import type { RunRecord } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

export interface ChangeRecord {
  readonly number: number
  readonly change: Change
  readonly state: ChangeState
  /** The HTTP status of the last answer. */
  readonly status: number | null
  readonly detail: string | null
}

/** What a change is when its run has ended: of what was under way nobody knows, and only a new plan may want the rest. */
export const STATE_AT_END = sql<ChangeState>`CASE WHEN c.state <> 'pending' THEN c.state
  WHEN c.chunk IS NULL THEN 'dropped' ELSE 'unknown' END`

/**
 * At most `limit` changes of a run, in their order. Those that went wrong are chosen first, then equally many of each
 * operation, so that twenty deletes are not lost behind a thousand creates.
 */
export async function changesOf(db: Db, run: number, limit: number): Promise<readonly ChangeRecord[]> {
  const { rows } = await sql<ChangeRecord>`
    SELECT number, change, status, detail,
      CASE WHEN r.state IN ('done', 'failed') THEN ${STATE_AT_END} ELSE c.state END AS state FROM (
      SELECT number, state IN ('quarantined', 'failed', 'missing', 'unknown') AS wrong,
        row_number() OVER (PARTITION BY op ORDER BY number) AS place
      FROM dirsyncd.changes WHERE run = ${run}
      ORDER BY wrong DESC, place, number LIMIT ${limit}
    ) AS chosen JOIN dirsyncd.changes AS c USING (number) JOIN dirsyncd.runs AS r USING (run)
    WHERE run = ${run} ORDER BY number`.execute(db)
  return rows
}

export async function countChanges(db: Db, run: number): Promise<number> {
  const row = await db
    .selectFrom('dirsyncd.changes')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('run', '=', run)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Which changes of a run are listed. */
export interface ChangeFilter {
  readonly op?: Op | undefined
  readonly state?: ChangeState | undefined
  /** A part of an id, a name or an e-mail. */
  readonly search?: string | undefined
}

/** The changes before or after this number, at most `limit` of them; both left out: the first ones. */
export interface Place {
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
}

type ShownRun = Pick<RunRecord, 'run' | 'state'>

export interface ChangesPage {
  readonly rows: readonly ChangeRecord[]
  /** Whether there are others in the direction in which these were read. */
  readonly isMore: boolean
}

/** Changes of a run in their order. */
export async function listChanges(
  db: Db,
  run: ShownRun,
  filter: ChangeFilter,
  { after = 0, before, limit }: Place,
): Promise<ChangesPage> {
  const isBackwards = before !== undefined
  const from = before ?? after
  const search = filter.search?.trim() ?? ''
  const query = { ...filter, isBackwards, limit: limit + 1 }
  const beyond = isBackwards ? sql`c.number < ${from}` : sql`c.number > ${from}`
  const rows: ChangeRecord[] = []
  if (search !== '') {
    for await (const numbers of numbersFound(db, run.run, { ...filter, search }, { from, isBackwards })) {
      rows.push(...(await selectChanges(db, run, sql`c.number = ANY(${numbers}::integer[])`, query)))
      if (rows.length > limit) break
    }
  } else {
    rows.push(...(await inTheirOrder(db, (trx) => selectChanges(trx, run, beyond, query))))
  }
  const shown = rows.slice(0, limit)
  return { rows: isBackwards ? shown.toReversed() : shown, isMore: rows.length > limit }
}

/**
 * Has changes read in their order until there are enough. An embedded store keeps no statistics, without which it would
 * rather sort a hundred thousand of them to show the first fifty.
 */
function inTheirOrder<T>(db: Db, read: (trx: Db) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await sql`SET LOCAL enable_sort = off`.execute(trx)
    return read(trx)
  })
}

async function selectChanges(
  db: Db,
  run: ShownRun,
  which: RawBuilder<unknown>,
  { op, state, isBackwards, limit }: Omit<ChangeFilter, 'search'> & { isBackwards: boolean; limit: number },
): Promise<readonly ChangeRecord[]> {
  const { rows } = await sql<ChangeRecord>`
    SELECT c.number, c.change, ${hasEnded(run) ? STATE_AT_END : sql`c.state`} AS state, c.status, c.detail
    FROM dirsyncd.changes AS c
    WHERE c.run = ${run.run} AND ${which} AND ${op === undefined ? sql`true` : sql`c.op = ${op}`}
      AND ${state === undefined ? sql`true` : isIn(run, state)}
    ORDER BY c.number ${isBackwards ? sql`DESC` : sql`ASC`} LIMIT ${limit}`.execute(db)
  return rows
}

function hasEnded({ state }: ShownRun): boolean {
  return state === 'done' || state === 'failed'
}

/** As `STATE_AT_END` says it, in words that an index knows. */
function isIn(run: ShownRun, state: ChangeState): RawBuilder<boolean> {
  const stored = sql<boolean>`c.state = ${sql.lit(state)}`
  if (!hasEnded(run)) return stored
  const left = sql`c.state = 'pending' AND c.chunk`
  if (state === 'pending') return sql`false`
  if (state === 'dropped') return sql`(${stored} OR ${left} IS NULL)`
  return state === 'unknown' ? sql`(${stored} OR ${left} IS NOT NULL)` : stored
}
