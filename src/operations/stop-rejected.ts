import { sql } from 'kysely'
import type { Db } from '../store/tables.ts'

/**
 * Asks the run that is under way to end where it has not sent all rejected changes, or is being planned and may know
 * nothing of the rejection. Returns the run that had sent changes of these entries before, and how many.
 *
 * @param ids of entries
 * @param leavers the users whose delete is rejected, and with it their removals from groups
 */
export async function stopRejected(
  db: Db,
  of: { readonly sync: string; readonly target: string; readonly undo: { readonly run: number } | null },
  {
    by,
    ids,
    leavers,
  }: { readonly by: string; readonly ids: readonly string[]; readonly leavers: readonly string[] },
): Promise<{ readonly run: number; readonly changes: number; readonly underWay: number } | null> {
  const isUnderWay = sql`sync = ${of.sync} AND target = ${of.target} AND mode = 'sync' AND finished_at IS NULL
    AND (undo ->> 'run')::int IS NOT DISTINCT FROM ${of.undo?.run ?? null}`
  const why = `${by} rejected changes of this run while it was under way; the next run makes the rest`
  const isRejected = sql`c.entry_id = ANY(${ids})
    OR c.op = 'set-members' AND c.change -> 'have' ?| ${leavers}::text[]`
  await sql`UPDATE dirsyncd.runs AS r SET stop_code = 'rejected', stop_reason = ${why}
    WHERE ${isUnderWay} AND stop_code IS NULL
      AND (r.state = 'planning' OR r.state = 'applying' AND EXISTS (
        SELECT FROM dirsyncd.changes AS c WHERE c.run = r.run AND c.state = 'pending' AND (${isRejected})))`.execute(
    db,
  )
  const { rows } = await sql<{ run: number; changes: number; underWay: number }>`SELECT c.run,
      count(*) FILTER (WHERE c.state <> 'pending')::int AS changes,
      count(*) FILTER (WHERE c.state = 'pending')::int AS "underWay"
    FROM dirsyncd.changes AS c
    WHERE c.run IN (SELECT run FROM dirsyncd.runs WHERE ${isUnderWay}) AND c.entry_id = ANY(${ids})
      AND (c.state NOT IN ('pending', 'blocked') OR c.chunk IS NOT NULL)
    GROUP BY c.run`.execute(db)
  return rows[0] ?? null
}
