import { type Kysely, sql } from 'kysely'
import type { Kind } from '../directory/entry.ts'
import type { Notice } from '../directory/snapshot.ts'
import type { Change, Op } from '../plan/change.ts'
import { WAS_THERE } from '../plan/outcome.ts'
import type { Phase, Plan } from '../plan/plan.ts'
import type { ChangeState } from './run-types.ts'
import { storableJson } from './storable.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** Rows in one statement. An embedded store blocks the process meanwhile: 30 ms for 1,000 rows, 200 ms for 5,000. */
const CHUNK = 1000

/** Stores a plan's changes, numbered from 1 in their order, and its notices. */
export async function storePlan(db: Db, run: number, plan: Plan): Promise<void> {
  await countStored(db, run, 'stored_changes', plan.changes.length)
  for (let start = 0; start < plan.changes.length; start += CHUNK) {
    const rows = plan.changes.slice(start, start + CHUNK).map((planned, index) => ({
      number: start + index + 1,
      phase: planned.phase,
      op: planned.change.op,
      entry_id: planned.change.id,
      fingerprint: planned.fingerprint,
      change: planned.change,
      removes: planned.removes,
    }))
    await sql`INSERT INTO dirsyncd.changes (run, number, phase, op, entry_id, fingerprint, change, removes)
      SELECT ${run}, number, phase, op, entry_id, fingerprint, change, removes
      FROM jsonb_to_recordset(${storableJson(rows)}::jsonb) AS row(number int, phase text, op text, entry_id text,
        fingerprint text, change jsonb, removes int)`.execute(db)
  }
  for (let start = 0; start < plan.notices.length; start += CHUNK) {
    await storeNotices(db, run, plan.notices.slice(start, start + CHUNK), start)
  }
}

/** Stores notices under the numbers after `start`: a negative one puts them before those of the plan. */
export async function storeNotices(
  db: Db,
  run: number,
  notices: readonly Notice[],
  start: number,
): Promise<void> {
  await countStored(db, run, 'stored_notices', notices.length)
  const rows = notices.map((notice, index) => ({ ...notice, number: start + index + 1 }))
  await sql`INSERT INTO dirsyncd.notices (run, number, kind, entry_id, code, detail)
    SELECT ${run}, number, kind, id, code, detail
    FROM jsonb_to_recordset(${storableJson(rows)}::jsonb) AS row(number int, kind text, id text, code text, detail text)`.execute(
    db,
  )
}

/** Before they are stored, so that an interrupted run never has more than is counted. */
async function countStored(
  db: Db,
  run: number,
  column: 'stored_changes' | 'stored_notices',
  count: number,
): Promise<void> {
  if (count === 0) return
  await sql`UPDATE dirsyncd.runs SET ${sql.ref(column)} = ${sql.ref(column)} + ${count} WHERE run = ${run}`.execute(
    db,
  )
}

export interface ChangeRecord {
  readonly number: number
  readonly change: Change
  readonly state: ChangeState
  readonly detail: string | null
}

/**
 * At most `limit` changes of a run in their order: those that went wrong before the others, and then as many of each
 * operation, so that twenty deletes are not lost behind a thousand creates.
 */
export async function changesOf(db: Db, run: number, limit: number): Promise<readonly ChangeRecord[]> {
  const { rows } = await sql<ChangeRecord>`
    SELECT number, change, state, detail FROM (
      SELECT number, change, state, detail, state IN ('quarantined', 'failed', 'missing') AS wrong,
        row_number() OVER (PARTITION BY op ORDER BY number) AS place
      FROM dirsyncd.changes WHERE run = ${run}
      ORDER BY wrong DESC, place, number LIMIT ${limit}
    ) AS shown ORDER BY number`.execute(db)
  return rows
}

export async function noticesOf(db: Db, run: number, limit: number): Promise<readonly Notice[]> {
  const rows = await db
    .selectFrom('dirsyncd.notices')
    .select(['kind', 'entry_id', 'code', 'detail'])
    .where('run', '=', run)
    .orderBy('number')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    kind: row.kind,
    id: row.entry_id ?? undefined,
    code: row.code,
    detail: row.detail,
  }))
}

/** A change that was refused with 403 so often is not tried again: it waits for the decision what that means. */
export const MOST_REFUSALS = 2

/** The changes of one phase: those that go on in their turn, or those that were left to the end of the run. */
export interface Part {
  readonly phase: Phase
  readonly tail: boolean
}

/** The changes that wait for an attempt, in order. */
export async function pendingChanges(
  db: Db,
  run: number,
  part: Part,
  range: { after?: number; upTo?: number; limit: number },
): Promise<readonly { number: number; op: Op; refusals: number }[]> {
  return pendingOf(db, run, part, range.upTo)
    .select(['number', 'op', 'refusals'])
    .where('number', '>', range.after ?? 0)
    .orderBy('number')
    .limit(range.limit)
    .execute()
}

/** How many changes of a part, those with a number up to `upTo` or all, wait for an attempt. */
export async function countPending(db: Db, run: number, part: Part, upTo?: number): Promise<number> {
  const row = await pendingOf(db, run, part, upTo)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

function pendingOf(db: Db, run: number, part: Part, upTo: number | undefined) {
  const query = db
    .selectFrom('dirsyncd.changes')
    .where('run', '=', run)
    .where('state', '=', 'pending')
    .where('phase', '=', part.phase)
    .where('tail', '=', part.tail)
    .where('refusals', '<', MOST_REFUSALS)
  return upTo === undefined ? query : query.where('number', '<=', upTo)
}

export async function countChanges(db: Db, run: number): Promise<number> {
  return countRows(db, 'dirsyncd.changes', run)
}

export async function countNotices(db: Db, run: number): Promise<number> {
  return countRows(db, 'dirsyncd.notices', run)
}

async function countRows(
  db: Db,
  table: 'dirsyncd.changes' | 'dirsyncd.notices',
  run: number,
): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('run', '=', run)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** The changes that this run did not bring to a good end. */
export async function unfinishedChanges(
  db: Db,
  run: number,
): Promise<readonly { op: Op; id: string; fingerprint: string }[]> {
  return db
    .selectFrom('dirsyncd.changes')
    .select(['op', 'entry_id as id', 'fingerprint'])
    .where('run', '=', run)
    .where('state', 'not in', ['applied', 'found', 'already'])
    .execute()
}

/** How many changes of a run are in each state. */
export async function outcomesOf(db: Db, run: number): Promise<Partial<Record<ChangeState, number>>> {
  const rows = await db
    .selectFrom('dirsyncd.changes')
    .select(['state', ({ fn }) => fn.countAll<string>().as('count')])
    .where('run', '=', run)
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map((row) => [row.state, Number(row.count)]))
}

/** How many users and groups a run was to create and found in the directory, without an earlier attempt of its own. */
export async function countThereBefore(db: Db, run: number): Promise<Record<Kind, number>> {
  const rows = await db
    .selectFrom('dirsyncd.changes')
    .select(['op', ({ fn }) => fn.countAll<string>().as('count')])
    .where('run', '=', run)
    .where('state', '=', 'found')
    .where('detail', '=', WAS_THERE)
    .groupBy('op')
    .execute()
  const countOf = (op: Op): number => Number(rows.find((row) => row.op === op)?.count ?? 0)
  return { user: countOf('create-user'), group: countOf('create-group') }
}

const UNDECIDED =
  'the directory has users whom its list did not show, so whose e-mail this is was not decided; the next run decides'

/**
 * Readies the users who are about to get somebody else's e-mail. Where its owner could not be changed or deleted, neither
 * they nor those who wait for them may get it: a service that does not mind would show it with two people. They are left to the end
 * of the run, where the owner is tried again, and fail there. And where a new user was there already, the list of the directory was
 * short, and nobody knows who else has the e-mail: the next run decides.
 */
export async function prepareTakers(db: Db, run: number, { atEnd }: { atEnd: boolean }): Promise<void> {
  await sql`UPDATE dirsyncd.changes SET state = 'failed', intent_at = NULL, detail = ${UNDECIDED}
    WHERE run = ${run} AND phase = 'take-emails' AND state = 'pending' AND EXISTS (
      SELECT FROM dirsyncd.changes AS created
      WHERE created.run = ${run} AND created.op = 'create-user' AND created.state = 'found' AND created.attempts = 1)`.execute(
    db,
  )
  const next = atEnd ? sql`state = 'failed', intent_at = NULL` : sql`tail = true`
  await sql`WITH RECURSIVE keeping AS (
      SELECT entry_id FROM dirsyncd.changes
      WHERE run = ${run} AND phase = 'free-emails' AND state IN ('pending', 'quarantined', 'failed')
      UNION
      SELECT taker.entry_id FROM dirsyncd.changes AS taker
      JOIN keeping ON taker.change -> 'takes' ->> 'from' = keeping.entry_id
      WHERE taker.run = ${run} AND taker.phase = 'take-emails' AND taker.state = 'pending'
    )
    UPDATE dirsyncd.changes AS taker SET ${next}, detail = 'the e-mail is still that of "'
      || (taker.change -> 'takes' ->> 'from') || '", who could not be changed'
    WHERE EXISTS (SELECT FROM keeping) AND taker.run = ${run} AND taker.phase = 'take-emails' AND taker.state = 'pending'
      AND taker.change -> 'takes' ->> 'from' IN (SELECT entry_id FROM keeping)`.execute(db)
}

/**
 * Readies the members that groups are about to get. Groups that wait for a user, or for themselves, to be created at
 * the end of the run get theirs there. Users whose creation was refused or failed are taken out, or one of them would
 * cost a group its other members; the change that is left is another one than was planned, so it has another
 * fingerprint. The next run adds whoever is there by then.
 */
export async function prepareMembers(db: Db, run: number): Promise<void> {
  await sql`UPDATE dirsyncd.changes AS members SET tail = true
    FROM dirsyncd.changes AS awaited
    WHERE members.run = ${run} AND members.op = 'set-members' AND members.state = 'pending'
      AND awaited.run = ${run} AND awaited.state = 'pending'
      AND (awaited.op = 'create-group' AND awaited.entry_id = members.entry_id
        OR awaited.op = 'create-user' AND members.change -> 'want' ? awaited.entry_id)`.execute(db)
  await sql`WITH refused AS (
      SELECT entry_id FROM dirsyncd.changes
      WHERE run = ${run} AND op = 'create-user' AND state IN ('quarantined', 'failed')
    )
    UPDATE dirsyncd.changes AS members
    SET fingerprint = md5(members.fingerprint || (SELECT string_agg(entry_id, ' ' ORDER BY entry_id) FROM refused)),
      change = jsonb_set(members.change, '{want}', COALESCE((
        SELECT jsonb_agg(id) FROM jsonb_array_elements_text(members.change -> 'want') AS id
        WHERE id NOT IN (SELECT entry_id FROM refused)), '[]'))
    WHERE members.run = ${run} AND members.op = 'set-members' AND members.state = 'pending'
      AND EXISTS (SELECT FROM refused WHERE members.change -> 'want' ? refused.entry_id)`.execute(db)
}
