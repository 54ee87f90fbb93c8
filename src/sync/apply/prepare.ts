import { sql } from 'kysely'
import type { Fenced } from '../../store/fenced-run.ts'
import { MOST_REFUSALS } from './stage.ts'

const UNDECIDED =
  'the directory has users whom its list did not show, so whose e-mail this is was not decided; the next run decides'

/**
 * Prepares changes whose e-mail another change frees. Where its owner could not be changed or deleted, the e-mail stays
 * taken, also for users further down the chain: a lenient service would show it on two users. These changes go to the
 * retry stage, where the owner is retried, and fail there. Where a new user existed already, the list of the directory
 * was incomplete and the owner is unknown: the next run decides.
 */
export async function prepareTakers(trx: Fenced, run: number, { atEnd }: { atEnd: boolean }): Promise<void> {
  await sql`UPDATE dirsyncd.changes SET state = 'failed', detail = ${UNDECIDED}
    WHERE run = ${run} AND phase = 'take-emails' AND state = 'pending' AND EXISTS (
      SELECT FROM dirsyncd.changes AS created
      WHERE created.run = ${run} AND created.op = 'create-user' AND created.was_there)`.execute(trx)
  const next = atEnd ? sql`state = 'failed'` : sql`retry = true`
  await sql`WITH RECURSIVE keeping AS (
      SELECT entry_id FROM dirsyncd.changes
      WHERE run = ${run} AND (phase = 'free-emails' AND state IN ('pending', 'quarantined', 'failed')
        OR phase = 'take-emails' AND (state IN ('quarantined', 'failed')
          OR state = 'pending' AND (refusals >= ${MOST_REFUSALS} OR ${!atEnd} AND retry)))
      UNION
      SELECT taker.entry_id FROM dirsyncd.changes AS taker
      JOIN keeping ON taker.change -> 'takes' ->> 'from' = keeping.entry_id
      WHERE taker.run = ${run} AND taker.phase = 'take-emails' AND taker.state = 'pending'
    )
    UPDATE dirsyncd.changes AS taker SET ${next}, detail = 'the e-mail is still that of "'
      || (taker.change -> 'takes' ->> 'from') || '", who could not be changed'
    WHERE EXISTS (SELECT FROM keeping) AND taker.run = ${run} AND taker.phase = 'take-emails' AND taker.state = 'pending'
      AND taker.chunk IS NULL AND (${atEnd} OR NOT taker.retry)
      AND taker.change -> 'takes' ->> 'from' IN (SELECT entry_id FROM keeping)`.execute(trx)
}

/**
 * Prepares member changes. A group that the run has renamed is sent its new name with them. Groups that wait for a
 * user, or for themselves, to be created in the retry stage get these members there. Users whose create was refused or
 * failed are removed from the change, or one user would cost a group its other members; the smaller change has another
 * fingerprint. The next run adds those that exist by then.
 */
export async function prepareMembers(trx: Fenced, run: number): Promise<void> {
  // PostgreSQL has no statistics of the plan yet, and would compare each user with each group.
  await sql`SET LOCAL enable_nestloop = off`.execute(trx)
  await sql`WITH renamed AS MATERIALIZED (
      SELECT entry_id, change #> '{want,name}' AS name FROM dirsyncd.changes
      WHERE run = ${run} AND op = 'update-group' AND state IN ('applied', 'found')
    )
    UPDATE dirsyncd.changes AS members SET change = jsonb_set(members.change, '{name}', renamed.name) FROM renamed
    WHERE members.run = ${run} AND members.op = 'set-members' AND members.state = 'pending'
      AND members.entry_id = renamed.entry_id`.execute(trx)
  await sql`WITH awaited AS MATERIALIZED (
      SELECT op, entry_id FROM dirsyncd.changes
      WHERE run = ${run} AND op IN ('create-group', 'create-user') AND state = 'pending'
    ), users AS (SELECT entry_id FROM awaited WHERE op = 'create-user')
    UPDATE dirsyncd.changes SET retry = true
    WHERE run = ${run} AND op = 'set-members' AND state = 'pending' AND (number IN (${groupsWithUsers(run)})
      OR entry_id IN (SELECT entry_id FROM awaited WHERE op = 'create-group'))`.execute(trx)
  await sql`WITH users AS MATERIALIZED (
      SELECT entry_id FROM dirsyncd.changes
      WHERE run = ${run} AND op = 'create-user' AND state IN ('quarantined', 'failed')
    )
    UPDATE dirsyncd.changes AS members
    SET fingerprint = md5(members.fingerprint || (SELECT string_agg(entry_id, ' ' ORDER BY entry_id) FROM users)),
      change = jsonb_set(members.change, '{want}', COALESCE((
        SELECT jsonb_agg(id) FROM jsonb_array_elements_text(members.change -> 'want') AS id
        WHERE id NOT IN (SELECT entry_id FROM users)), '[]'))
    WHERE members.run = ${run} AND members.number IN (${groupsWithUsers(run)})`.execute(trx)
  await sql`SET LOCAL enable_nestloop = on`.execute(trx)
}

/** The waiting member changes that add or keep one of the `users`, a table of the statement. */
function groupsWithUsers(run: number) {
  return sql`SELECT m.number FROM dirsyncd.changes AS m
      CROSS JOIN LATERAL jsonb_array_elements_text(m.change -> 'want') AS want (id)
      JOIN users ON users.entry_id = want.id
    WHERE m.run = ${run} AND m.op = 'set-members' AND m.state = 'pending' AND EXISTS (SELECT FROM users)`
}
