import { type RawBuilder, sql } from 'kysely'
import { opsOfPart, type Part } from '../core/plan/part/part.ts'
import type { Change } from '../core/plan/change.ts'
import type { LaterAttempt } from '../core/plan/undo/later-attempts.ts'
import { STATE_AT_END } from './change-list.ts'
import type { Db } from './tables.ts'

/**
 * Whether a run has changes that a part names, changes of members that concern a user of it, or deletes that ended
 * memberships that it names: no change of members says so.
 */
export async function hasPart(db: Db, run: number, part: Part): Promise<boolean> {
  const ops = opsOfPart(part)
  const isOfPart = sql`op = ANY(${ops}::text[]) AND ${isOfEntries(part)}`
  const which = ops.includes('set-members') ? sql`(${isOfPart} OR ${isOfMembers(part)})` : isOfPart
  const { rows } = await sql<{ has: boolean }>`SELECT EXISTS (SELECT FROM dirsyncd.changes
    WHERE run = ${run} AND state <> 'blocked' AND ${which}) AS has`.execute(db)
  return rows[0]?.has === true
}

function isOfEntries({ ids }: Part): RawBuilder<boolean> {
  return ids === undefined ? sql<boolean>`true` : sql<boolean>`entry_id = ANY(${ids}::text[])`
}

function isOfMembers({ ids }: Part): RawBuilder<boolean> {
  const others = sql`coalesce(change -> 'have' -> 'groups', change -> 'have' -> 'members', '[]')`
  if (ids === undefined) return sql<boolean>`op LIKE 'delete-%' AND ${others} <> '[]'`
  return sql<boolean>`op LIKE 'delete-%' AND (${others} ?| ${ids}::text[] OR entry_id = ANY(${ids}::text[]))
    OR op = 'set-members' AND (change -> 'want' ?| ${ids}::text[] OR change -> 'have' ?| ${ids}::text[])`
}

const CHANGES_AT_ONCE = 1000

/** A change that a run made or found done, or may have made. */
interface DoneChange {
  readonly change: Change
  /** It was so before the run wrote it: not the run's doing. */
  readonly wasThere: boolean
}

/** The changes of a run that may have changed the directory, in their order and in parts. */
export async function* doneChanges(db: Db, run: number): AsyncGenerator<readonly DoneChange[], void> {
  for (let after = 0; ;) {
    const { rows } = await sql<DoneChange & { number: number }>`
      SELECT c.number, c.change, c.was_there AS "wasThere"
      FROM dirsyncd.changes AS c WHERE run = ${run} AND number > ${after}
        AND ${STATE_AT_END} IN ('applied', 'found', 'unknown')
      ORDER BY number LIMIT ${CHANGES_AT_ONCE}`.execute(db)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined) return undefined
    after = last.number
  }
}

/** What the runs after this one created and deleted for the same sync, in the order of time. */
export async function laterAttempts(db: Db, run: number): Promise<readonly LaterAttempt[]> {
  const { rows } = await sql<LaterAttempt>`
    WITH own AS MATERIALIZED (
      SELECT sync, target, min(intent_at) AS at FROM dirsyncd.journal WHERE run = ${run} GROUP BY sync, target
    )
    SELECT substr(j.op, 8) AS kind, j.entry_id AS id, j.run, left(j.op, 6) AS does,
      (r.undo ->> 'run')::integer AS undoes
    FROM own JOIN dirsyncd.journal AS j ON j.sync = own.sync AND j.target = own.target AND j.intent_at > own.at
      LEFT JOIN dirsyncd.runs AS r ON r.run = j.run
    WHERE j.run <> ${run} AND (j.outcome IN ('applied', 'found', 'already') AND j.op LIKE 'delete-%'
      OR j.outcome IN ('applied', 'found', 'already', 'unknown') AND j.op LIKE 'create-%')
    ORDER BY j.intent_at, j.id`.execute(db)
  return rows
}
