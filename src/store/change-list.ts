import { type RawBuilder, sql } from 'kysely'
import type { BlockCode, BlockReason, KeyFacts, Until } from '../core/block.ts'
import type { Reason } from '../core/blocked.ts'
import type { Change, Op } from '../core/plan/change.ts'
import { numbersFound } from './change-texts.ts'
import type { ChangeState, StoredBlock } from './run-types.ts'
import type { RunRecord } from './runs.ts'
import type { Db } from './tables.ts'

/** Blocked changes are numbered from here, behind those of each plan. */
export const FIRST_BLOCKED = 1_000_000_000

/** Why a change is blocked. */
export type ChangeReason = BlockReason & {
  readonly until: Until
  readonly stops: boolean
  /** What is true of this change alone, by the code. */
  readonly facts: KeyFacts[keyof KeyFacts] | null
}

export interface ChangeRecord {
  readonly number: number
  readonly change: Change
  readonly state: ChangeState
  /** The HTTP status of the last answer. */
  readonly status: number | null
  readonly detail: string | null
  /** Of a blocked change; none where only the stop of the plan blocks it. */
  readonly reasons: readonly ChangeReason[]
}

interface ChangeRow extends Omit<ChangeRecord, 'reasons'> {
  readonly reasons: readonly Reason[] | null
}

/** What a change is when its run has ended: of what was under way nobody knows, and only a new plan may want the rest. */
export const STATE_AT_END = sql<ChangeState>`CASE WHEN c.state <> 'pending' THEN c.state
  WHEN c.chunk IS NULL THEN 'dropped' ELSE 'unknown' END`

const columnsOf = (run: ShownRun) =>
  sql`c.number, c.change, c.status, c.detail, ${hasEnded(run) ? STATE_AT_END : sql`c.state`} AS state, c.reasons`

/**
 * At most `limit` changes of a run, in their order. Those that went wrong are chosen first, then equally many of each
 * operation, so that twenty deletes are not lost behind a thousand creates.
 */
export async function changesOf(db: Db, run: ShownRun, limit: number): Promise<readonly ChangeRecord[]> {
  const { rows } = await sql<ChangeRow>`
    SELECT ${columnsOf(run)} FROM (
      SELECT run, number, state IN ('quarantined', 'failed', 'missing', 'unknown') AS wrong,
        row_number() OVER (PARTITION BY op, state = 'blocked' ORDER BY number) AS place
      FROM dirsyncd.changes AS c WHERE ${isShownIn(run)}
      ORDER BY wrong DESC, place, number LIMIT ${limit}
    ) AS chosen JOIN dirsyncd.changes AS c USING (run, number) ORDER BY c.number`.execute(db)
  return withReasons(db, run, rows)
}

/** All changes of a run that pass a condition on `c`, in their order. */
export async function changesWhere(
  db: Db,
  run: ShownRun,
  condition: RawBuilder<unknown>,
): Promise<readonly ChangeRecord[]> {
  const { rows } = await sql<ChangeRow>`SELECT ${columnsOf(run)}
    FROM dirsyncd.changes AS c WHERE ${isShownIn(run)} AND ${condition} ORDER BY c.number`.execute(db)
  return withReasons(db, run, rows)
}

/** The changes of a plan are those of the run; what it blocks may be stored with an earlier run that blocked the same. */
function isShownIn({ run, blocked_in: blockedIn }: Omit<ShownRun, 'state'>): RawBuilder<boolean> {
  return sql<boolean>`(c.run = ${run} AND c.state <> 'blocked' OR c.run = ${blockedIn} AND c.state = 'blocked')`
}

export async function countChanges(db: Db, run: Omit<ShownRun, 'state'>): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count
    FROM dirsyncd.changes AS c WHERE ${isShownIn(run)}`.execute(db)
  return rows[0]?.count ?? 0
}

async function withReasons(
  db: Db,
  { blocked_in: blockedIn }: ShownRun,
  rows: readonly ChangeRow[],
): Promise<readonly ChangeRecord[]> {
  const isBlocked = rows.some(({ reasons }) => reasons !== null)
  const run = isBlocked ? await blocksOf(db, blockedIn) : []
  return rows.map(({ reasons, ...row }) => ({
    ...row,
    reasons: (reasons ?? []).flatMap(({ block, facts = null }) => {
      const of = run[block]
      return of === undefined ? [] : [reasonOf(of, facts)]
    }),
  }))
}

function reasonOf({ code, params, until, stops }: StoredBlock, facts: ChangeReason['facts']): ChangeReason {
  // The parameters are those of the code.
  return { code, params, until, stops, facts } as ChangeReason
}

async function blocksOf(db: Db, run: number | null): Promise<readonly StoredBlock[]> {
  const query = db.selectFrom('dirsyncd.runs').select('blocks').where('run', '=', run)
  return (await query.executeTakeFirst())?.blocks ?? []
}

export interface ChangeFilter {
  readonly op?: Op | undefined
  readonly state?: ChangeState | undefined
  /** Only blocked changes with this reason. */
  readonly code?: BlockCode | undefined
  /** A part of an id, a name or an e-mail. */
  readonly search?: string | undefined
}

/** The changes before or after this number, at most `limit` of them; both left out: the first ones. */
export interface Place {
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
}

type ShownRun = Pick<RunRecord, 'run' | 'state' | 'blocked_in'>

interface ChangesPage {
  readonly rows: readonly ChangeRecord[]
  /** Whether there are others in the direction in which these were read. */
  readonly isMore: boolean
}

/** Changes of a run in their order, blocked ones behind the others. */
export async function listChanges(
  db: Db,
  run: ShownRun,
  filter: ChangeFilter,
  { after = 0, before, limit }: Place,
): Promise<ChangesPage> {
  const isBackwards = before !== undefined
  const from = before ?? after
  const rows: ChangeRow[] = []
  for (const part of isBackwards ? partsOf(run).toReversed() : partsOf(run)) {
    if (rows.length > limit) break
    const asked = { ...filter, isBackwards, limit: limit + 1 - rows.length }
    rows.push(...(await listPart(db, { ...run, ...part }, asked, from)))
  }
  const shown = rows.slice(0, limit)
  const inOrder = isBackwards ? shown.toReversed() : shown
  return { rows: await withReasons(db, run, inOrder), isMore: rows.length > limit }
}

interface PartOfRun extends ShownRun {
  readonly isBlocked: boolean
}

function partsOf({ run, blocked_in: blockedIn }: ShownRun): readonly Pick<PartOfRun, 'run' | 'isBlocked'>[] {
  const blocked = blockedIn === null ? [] : [{ run: blockedIn, isBlocked: true }]
  return [{ run, isBlocked: false }, ...blocked]
}

type Asked = ChangeFilter & { readonly isBackwards: boolean; readonly limit: number }

async function listPart(db: Db, run: PartOfRun, query: Asked, from: number): Promise<readonly ChangeRow[]> {
  const { isBackwards, limit } = query
  const search = query.search?.trim() ?? ''
  const beyond = isBackwards ? sql`c.number < ${from}` : sql`c.number > ${from}`
  if (search === '')
    return db.transaction().execute(async (trx) => {
      // An embedded store keeps no statistics, and would sort a hundred thousand to show the first fifty.
      await sql`SET LOCAL enable_sort = off`.execute(trx)
      return selectChanges(trx, run, beyond, query)
    })
  const rows: ChangeRow[] = []
  for await (const numbers of numbersFound(db, run.run, { ...query, search }, { from, isBackwards })) {
    rows.push(...(await selectChanges(db, run, sql`c.number = ANY(${numbers}::integer[])`, query)))
    if (rows.length >= limit) break
  }
  return rows.slice(0, limit)
}

async function selectChanges(
  db: Db,
  run: PartOfRun,
  which: RawBuilder<unknown>,
  { op, state, code, isBackwards, limit }: Omit<Asked, 'search'>,
): Promise<readonly ChangeRow[]> {
  const ofPart = run.isBlocked ? sql`c.number >= ${FIRST_BLOCKED}` : sql`c.number < ${FIRST_BLOCKED}`
  const { rows } = await sql<ChangeRow>`
    SELECT ${columnsOf(run)}
    FROM dirsyncd.changes AS c
    WHERE c.run = ${run.run} AND ${ofPart} AND ${which} AND ${op === undefined ? sql`true` : sql`c.op = ${op}`}
      AND ${state === undefined ? sql`true` : isIn(run, state)} AND ${code === undefined ? sql`true` : isBlockedBy(run, code)}
    ORDER BY c.number ${isBackwards ? sql`DESC` : sql`ASC`} LIMIT ${limit}`.execute(db)
  return rows
}

/** Whether a block with this code is among the reasons of a change. */
function isBlockedBy({ run }: PartOfRun, code: BlockCode): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (SELECT FROM jsonb_array_elements(c.reasons) AS reason,
    (SELECT blocks FROM dirsyncd.runs WHERE run = ${run}) AS of_run
    WHERE of_run.blocks -> (reason ->> 'block')::integer ->> 'code' = ${code})`
}

function hasEnded({ state }: ShownRun): boolean {
  return state === 'done' || state === 'held' || state === 'failed'
}

/** As `STATE_AT_END` says it, in words that an index knows. */
function isIn(run: PartOfRun, state: ChangeState): RawBuilder<boolean> {
  const stored = sql<boolean>`c.state = ${sql.lit(state)}`
  if (!hasEnded(run)) return stored
  const left = sql`c.state = 'pending' AND c.chunk`
  if (state === 'pending') return sql`false`
  if (state === 'dropped') return sql`(${stored} OR ${left} IS NULL)`
  return state === 'unknown' ? sql`(${stored} OR ${left} IS NOT NULL)` : stored
}
