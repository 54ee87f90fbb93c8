import { createHash, type Hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type Selectable, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import type { Notice, NoticeCode } from '../core/notice.ts'
import type { Reason } from '../core/blocked.ts'
import { type Op, takesAway } from '../core/plan/change.ts'
import type { PlannedChange } from '../core/plan/changes.ts'
import type { Fenced, FencedRun } from './fenced-run.ts'
import { FIRST_BLOCKED, STATE_AT_END } from './change-list.ts'
import { storeTexts, textsOf } from './change-texts.ts'
import type { ChangeState } from './run-types.ts'
import { IS_OF_ALL, type RunRecord } from './runs.ts'
import { storableJson } from './storable.ts'
import type { Db, Tables } from './tables.ts'

/** A change of a plan, or one that is blocked. */
interface RowOfChange {
  readonly planned: PlannedChange
  readonly approvedBy?: string | undefined
  /** Set for a blocked change. */
  readonly reasons?: readonly Reason[]
}

/** An embedded store blocks the process for each statement: 30 ms for 1,000 rows, 200 ms for 5,000. */
const ROWS_PER_STATEMENT = 1000

/**
 * Stores a plan's changes, numbered from 1 in their order. Marks as unsure the changes of entries that an earlier run
 * may have changed: these are looked up before anything is sent.
 *
 * @returns SHA-256 over the fingerprints, in hexadecimal; equal plans have equal digests
 */
export async function storePlan(
  fenced: FencedRun,
  changes: Iterable<RowOfChange>,
  count: number,
): Promise<string> {
  const digest = createHash('sha256')
  await fenced.write((trx) => countStored(trx, fenced.run, 'stored_changes', count))
  await storeRows(fenced, digested(changes, digest), 1)
  await fenced.write(async (trx, run) => {
    // Nothing is known yet of rows that have just been stored. Taken for few, they would each be looked for in the whole
    // journal: minutes for fifty thousand.
    await sql`SET LOCAL enable_nestloop = off`.execute(trx)
    await sql`UPDATE dirsyncd.changes AS c SET unsure = true FROM dirsyncd.journal AS j
      WHERE j.sync = ${run.sync} AND j.target = ${run.target} AND j.outcome = 'unknown'
        AND j.intent_at > now() - interval '24 hours'
        AND c.run = ${fenced.run} AND c.state = 'pending' AND c.entry_id = j.entry_id
        AND (c.op LIKE '%-user') = (j.op LIKE '%-user')`.execute(trx)
  })
  return digest.digest('hex')
}

function* digested(changes: Iterable<RowOfChange>, digest: Hash): Generator<RowOfChange, void> {
  for (const row of changes) {
    digest.update(row.planned.fingerprint)
    yield row
  }
}

/** Stores what a run blocks, instead of what it blocked before, so that an operator can see it as other changes. */
export async function storeBlocked(
  fenced: FencedRun,
  changes: Iterable<RowOfChange>,
  count: number,
): Promise<void> {
  await fenced.write(async (trx) => {
    const { run } = fenced
    await sql`DELETE FROM dirsyncd.changes WHERE run = ${run} AND number >= ${FIRST_BLOCKED}`.execute(trx)
    await sql`DELETE FROM dirsyncd.change_texts WHERE run = ${run} AND first >= ${FIRST_BLOCKED}`.execute(trx)
    await countStored(trx, run, 'stored_blocked', count)
  })
  await storeRows(fenced, changes, FIRST_BLOCKED)
}

export async function storeAllNotices(fenced: FencedRun, notices: readonly Notice[]): Promise<void> {
  for (let start = 0; start < notices.length; start += ROWS_PER_STATEMENT) {
    const some = notices.slice(start, start + ROWS_PER_STATEMENT)
    await fenced.write((trx) => storeNotices(trx, fenced.run, some, start))
  }
}

async function storeRows(fenced: FencedRun, changes: Iterable<RowOfChange>, first: number): Promise<void> {
  const parts = inParts(changes, first)
  for (let part = parts.next(); part.done !== true;) {
    const together = part.value
    // While the store writes some, the next ones are made.
    const makeNext = async () => {
      await setImmediate()
      part = parts.next()
    }
    await fenced.write((trx) => Promise.all([insertChanges(trx, fenced.run, together), makeNext()]))
  }
}

function* inParts(
  changes: Iterable<RowOfChange>,
  first: number,
): Generator<ReturnType<typeof storedTogether>, void> {
  let some: RowOfChange[] = []
  let at = first
  for (const row of changes) {
    some.push(row)
    if (some.length < ROWS_PER_STATEMENT) continue
    yield storedTogether(some, at)
    at += some.length
    some = []
  }
  if (some.length > 0) yield storedTogether(some, at)
}

/** Rows of the table `changes`, as many as one statement stores, and what is searched in them. */
function storedTogether(some: readonly RowOfChange[], first: number) {
  const rows = some.map(({ planned, approvedBy = null, reasons }, place) => {
    const { op, id } = planned.change
    const state = reasons === undefined ? 'pending' : 'blocked'
    const row = { number: first + place, op, entry_id: id, approved_by: approvedBy, state, reasons }
    return { ...planned, ...row, takes_away: takesAway(planned.change) }
  })
  const texts = textsOf(
    some.map(({ planned }) => planned.change),
    first,
  )
  return { json: storableJson(rows), texts }
}

async function insertChanges(
  trx: Fenced,
  run: number,
  { json, texts }: ReturnType<typeof storedTogether>,
): Promise<void> {
  await sql`INSERT INTO dirsyncd.changes
      (run, number, phase, op, entry_id, fingerprint, change, removes, takes_away, state, reasons, approved_by)
    SELECT ${run}, number, phase, op, entry_id, fingerprint, change, removes, takes_away, state, reasons, approved_by
    FROM jsonb_to_recordset(${json}::jsonb) AS row(number int, phase text, op text, entry_id text,
      fingerprint text, change jsonb, removes int, takes_away boolean, state text, reasons jsonb, approved_by text)`.execute(
    trx,
  )
  await storeTexts(trx, run, texts)
}

/** Stores notices under the numbers after `start`: a negative one puts them before those of the plan. */
export async function storeNotices(
  trx: Fenced,
  run: number,
  notices: readonly Notice[],
  start: number,
): Promise<void> {
  await countStored(trx, run, 'stored_notices', notices.length)
  const rows = notices.map((notice, index) => ({ ...notice, number: start + index + 1 }))
  await sql`INSERT INTO dirsyncd.notices (run, number, kind, entry_id, code, params)
    SELECT ${run}, number, kind, id, code, params
    FROM jsonb_to_recordset(${storableJson(rows)}::jsonb)
      AS row(number int, kind text, id text, code text, params jsonb)`.execute(trx)
}

/** Before all other notices of its run. */
const BATCH_NOTICE = -1_000_000_000

/** Stores why a run sends no batches any more; of several workers, only the first reason. */
export async function storeBatchNotice(
  trx: Fenced,
  run: number,
  { kind, id, code, params }: Notice,
): Promise<void> {
  const { numInsertedOrUpdatedRows: stored } = await trx
    .insertInto('dirsyncd.notices')
    .values({ run, number: BATCH_NOTICE, kind, entry_id: id ?? null, code, params: storableJson(params) })
    .onConflict((conflict) => conflict.columns(['run', 'number']).doNothing())
    .executeTakeFirstOrThrow()
  await countStored(trx, run, 'stored_notices', Number(stored ?? 0))
}

/** Why the workers of a run sent no batches any more; at most one. */
export async function batchNotices(db: Db, run: number): Promise<readonly Notice[]> {
  const rows = await selectNotices(db, run).where('number', '=', BATCH_NOTICE).execute()
  return rows.map(noticeOf)
}

function selectNotices(db: Db, run: number) {
  return db
    .selectFrom('dirsyncd.notices')
    .select(['kind', 'entry_id', 'code', 'params'])
    .where('run', '=', run)
}

type NoticeRow = Pick<Selectable<Tables['dirsyncd.notices']>, 'kind' | 'entry_id' | 'code' | 'params'>

/** What the store has was written from notices. */
function noticeOf({ kind, entry_id: id, code, params }: NoticeRow): Notice {
  return { kind, id: id ?? undefined, code, params } as Notice
}

/** Counts rows before they are stored, so that an interrupted run never has more rows than are counted. */
async function countStored(
  db: Db,
  run: number,
  column: 'stored_changes' | 'stored_blocked' | 'stored_notices',
  count: number,
): Promise<void> {
  if (count === 0) return
  const stored = sql.ref(column)
  await sql`UPDATE dirsyncd.runs SET ${stored} = ${stored} + ${count} WHERE run = ${run}`.execute(db)
}

export async function noticesOf(db: Db, run: number, limit: number): Promise<readonly Notice[]> {
  const rows = await selectNotices(db, run).orderBy('number').limit(limit).execute()
  return rows.map(noticeOf)
}

export async function noticesOfEntry(
  db: Db,
  run: number,
  { kind, id }: { readonly kind: Kind; readonly id: string },
): Promise<readonly Notice[]> {
  const ofEntry = selectNotices(db, run).where('kind', '=', kind).where('entry_id', '=', id)
  return (await ofEntry.orderBy('number').execute()).map(noticeOf)
}

/** Notices of one code, in their order, with their numbers: at most `limit` after this number. */
export async function listNoticesOf(
  db: Db,
  run: number,
  { code, after, limit }: { readonly code?: NoticeCode; readonly after?: number; readonly limit: number },
): Promise<readonly (Notice & { readonly number: number })[]> {
  let query = selectNotices(db, run).select('number').orderBy('number').limit(limit)
  if (code !== undefined) query = query.where('code', '=', code)
  if (after !== undefined) query = query.where('number', '>', after)
  return (await query.execute()).map((row) => ({ ...noticeOf(row), number: row.number }))
}

/** The codes whose notices are the same as in the run of the whole sync before this one. */
export async function sameNotices(
  db: Db,
  { run, sync, target, scope, undo }: Pick<RunRecord, 'run' | 'sync' | 'target' | 'scope' | 'undo'>,
): Promise<{ readonly run: number; readonly codes: readonly NoticeCode[] } | undefined> {
  if (scope !== null || undo !== null) return undefined
  const { rows: runs } = await sql<{ before: number | null }>`SELECT max(run) AS before FROM dirsyncd.runs
    WHERE sync = ${sync} AND target = ${target} AND run < ${run} AND mode = 'sync' AND ${IS_OF_ALL}
      AND finished_at IS NOT NULL`.execute(db)
  const before = runs[0]?.before ?? undefined
  if (before === undefined) return undefined
  const { rows } = await sql<{ code: NoticeCode }>`
    SELECT code FROM (
      SELECT run, code, count(*) AS notices,
        sum(hashtextextended(concat_ws(chr(31), kind, entry_id, params::text), 0)::numeric) AS content
      FROM dirsyncd.notices WHERE run IN (${run}, ${before}) GROUP BY run, code
    ) AS of_run GROUP BY code, notices, content HAVING count(*) = 2`.execute(db)
  return { run: before, codes: rows.map(({ code }) => code) }
}

export async function countNotices(db: Db, run: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count
    FROM dirsyncd.notices WHERE run = ${run}`.execute(db)
  return rows[0]!.count
}

/** A change that waits to be sent. */
export interface WaitingChange {
  readonly number: number
  readonly fingerprint: string
}

/** By operation and id. */
export async function waitingChanges(db: Db, run: number): Promise<ReadonlyMap<string, WaitingChange>> {
  const { rows } = await sql<
    WaitingChange & { key: string }
  >`SELECT op || ' ' || entry_id AS key, number, fingerprint
    FROM dirsyncd.changes WHERE run = ${run} AND state = 'pending' AND chunk IS NULL`.execute(db)
  return new Map(rows.map(({ key, ...change }) => [key, change]))
}

/** Replaces changes by smaller ones, or removes them where nothing is planned any more, unless they changed meanwhile. */
export async function replaceChanges(
  trx: Fenced,
  run: number,
  replaced: readonly (WaitingChange & { readonly smaller?: PlannedChange })[],
): Promise<void> {
  const rows = replaced.map(({ number, fingerprint: was, smaller }) => {
    return { number, was, ...smaller, takes_away: smaller && takesAway(smaller.change) }
  })
  const isTheSame = sql`c.run = ${run} AND c.number = now.number AND c.fingerprint = now.was
    AND c.state = 'pending' AND c.chunk IS NULL`
  await sql`WITH now AS (SELECT * FROM jsonb_to_recordset(${storableJson(rows)}::jsonb)
      AS row(number int, was text, fingerprint text, change jsonb, removes int, takes_away boolean)), gone AS (
      DELETE FROM dirsyncd.changes AS c USING now WHERE ${isTheSame} AND now.change IS NULL)
    UPDATE dirsyncd.changes AS c SET change = now.change, fingerprint = now.fingerprint, removes = now.removes,
      takes_away = now.takes_away FROM now WHERE ${isTheSame} AND now.change IS NOT NULL`.execute(trx)
}

/** The changes that this run did not bring to a good end. */
export async function unfinishedChanges(
  db: Db,
  run: number,
): Promise<readonly { op: Op; id: string; fingerprint: string }[]> {
  const { rows } = await sql<{ op: Op; id: string; fingerprint: string }>`
    SELECT op, entry_id AS id, fingerprint FROM dirsyncd.changes
    WHERE run = ${run} AND state NOT IN ('applied', 'found', 'already', 'blocked')`.execute(db)
  return rows
}

/** How many changes of a run have come to what, when it ends. */
export async function outcomesAtEnd(db: Db, run: number): Promise<Partial<Record<ChangeState, number>>> {
  const { rows } = await sql<{ state: ChangeState; count: number }>`
    SELECT ${STATE_AT_END} AS state, count(*)::integer AS count FROM dirsyncd.changes AS c
    WHERE run = ${run} AND state <> 'blocked' GROUP BY 1`.execute(db)
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** What the service said of a change of the run that failed and may be tried again. */
export async function lastFailureOf(db: Db, run: number): Promise<string | undefined> {
  const { rows } = await sql<{ detail: string }>`SELECT detail FROM dirsyncd.changes
    WHERE run = ${run} AND state = 'pending' AND detail IS NOT NULL AND refusals = 0
    ORDER BY next_at DESC NULLS LAST LIMIT 1`.execute(db)
  return rows[0]?.detail
}

/**
 * How many users and groups a run was to create and found in the directory, although no earlier attempt created them.
 */
export async function countThereBefore(db: Db, run: number): Promise<Record<Kind, number>> {
  const { rows } = await sql<Record<Kind, number>>`SELECT
      (count(*) FILTER (WHERE op = 'create-user'))::integer AS "user",
      (count(*) FILTER (WHERE op = 'create-group'))::integer AS "group"
    FROM dirsyncd.changes WHERE run = ${run} AND was_there`.execute(db)
  return rows[0]!
}
