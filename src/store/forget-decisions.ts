import { type Kysely, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import { type Change, partFingerprints } from '../core/plan/change.ts'
import type { SyncTarget } from './run-types.ts'
import type { RunRecord } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** The fingerprints of other forms of these changes of a run: what the source wants with them, and their parts. */
export async function formsOf(
  db: Db,
  run: number,
  fingerprints: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<ChangeForms>`SELECT fingerprint, wish, change FROM dirsyncd.changes
    WHERE run = ${run} AND fingerprint = ANY(${fingerprints}::text[])`.execute(db)
  return rows.flatMap(formsIn)
}

interface ChangeForms {
  readonly fingerprint: string
  readonly wish: string | null
  readonly change: Change
}

function formsIn({ wish, change }: ChangeForms): readonly string[] {
  return [...(wish === null ? [] : [wish]), ...partFingerprints(change)]
}

/**
 * Whoever approves a change that this run held approves each part of it that was rejected with it, because by now the
 * plan may want only that. Of all other forms an earlier decision is over, but for what a newer hold rejected.
 */
export async function approveForms(
  db: Db,
  { sync, target, run }: RunRecord,
  fingerprints: readonly string[],
  by: string,
): Promise<void> {
  const forms = await formsOf(db, run, fingerprints)
  if (forms.length === 0) return
  await db
    .updateTable('dirsyncd.decisions')
    .set({ decision: 'approved', decided_by: by, decided_at: sql`now()` })
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('run', '=', run)
    .where('decision', '=', 'rejected')
    .where(sql<boolean>`fingerprint = ANY(${forms}::text[])`)
    .execute()
  await db
    .deleteFrom('dirsyncd.decisions')
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('decision', '<>', 'approved')
    .where(sql<boolean>`(decision = 'left-out' OR run < ${run})`)
    .where(sql<boolean>`fingerprint = ANY(${forms}::text[])`)
    .execute()
}

/**
 * Entries of which a run does not tell whether a change of theirs is still wanted, because it could not use or compare
 * them.
 */
export type Unjudged = 'all' | Readonly<Record<Kind, readonly string[]>>

/** What of a change that was decided about is still open, by fingerprint: it may be so although no plan has it as it was. */
export type StillAsked = (change: Change) => readonly string[]

/**
 * Forgets all decisions but those about these changes: a decision ends when its change is applied or no longer wanted.
 * A rejection of what a run could not judge stays, and of what the plan wants in another form; an approval of that is
 * given anew.
 */
export async function forgetOtherDecisions(
  db: Db,
  { sync, target }: SyncTarget,
  wanted: readonly string[],
  unjudged: () => Unjudged,
  stillAsked: StillAsked,
): Promise<void> {
  const isOther = sql`sync = ${sync} AND target = ${target} AND fingerprint <> ALL(${wanted}::text[])`
  const { rows } = await sql<{ run: number }>`SELECT DISTINCT run FROM dirsyncd.decisions
    WHERE ${isOther} AND decision <> 'approved'`.execute(db)
  const runs = rows.map(({ run }) => run)
  const ids = runs.length === 0 ? { user: [], group: [] } : unjudged()
  const kept =
    ids === 'all'
      ? []
      : [...(await printsOf(db, runs, ids)), ...(await askedOf(db, { sync, target }, runs, stillAsked))]
  const isOver = ids === 'all' ? sql`false` : sql`fingerprint <> ALL(${kept}::text[])`
  await sql`DELETE FROM dirsyncd.decisions WHERE ${isOther} AND (decision = 'approved' OR ${isOver})`.execute(
    db,
  )
}

/** The fingerprints of what was decided about and is still asked for, with those of what the source wants with it. */
async function askedOf(
  db: Db,
  { sync, target }: SyncTarget,
  runs: readonly number[],
  stillAsked: StillAsked,
): Promise<readonly string[]> {
  if (runs.length === 0) return []
  const { rows } = await sql<ChangeForms>`SELECT c.fingerprint, c.wish, c.change FROM dirsyncd.changes AS c
    JOIN dirsyncd.decisions AS d ON d.run = c.run AND d.fingerprint = c.fingerprint
    WHERE c.run = ANY(${runs}::integer[]) AND d.sync = ${sync} AND d.target = ${target}
      AND d.decision <> 'approved'`.execute(db)
  return rows.flatMap(({ wish, change }) => {
    const asked = stillAsked(change)
    return asked.length === 0 || wish === null ? asked : [...asked, wish]
  })
}

/** The fingerprints of the changes of some runs that concern these entries, as members too, in all forms. */
async function printsOf(
  db: Db,
  runs: readonly number[],
  { user, group }: Exclude<Unjudged, 'all'>,
): Promise<readonly string[]> {
  if (runs.length === 0 || user.length + group.length === 0) return []
  const isMember = sql`(change -> 'want' ?| ${user}::text[] OR change -> 'have' ?| ${user}::text[])`
  const { rows } = await sql<ChangeForms>`SELECT fingerprint, wish, change FROM dirsyncd.changes
    WHERE run = ANY(${runs}::integer[]) AND CASE
      WHEN op LIKE '%-user' THEN entry_id = ANY(${user}::text[])
      ELSE entry_id = ANY(${group}::text[]) OR op = 'set-members' AND ${isMember} END`.execute(db)
  return rows.flatMap((row) => [row.fingerprint, ...formsIn(row)])
}

/** An approval is for once: it ends with the run that did what was approved. */
export async function spendApprovals(db: Db, { run, sync, target }: RunRecord): Promise<void> {
  await sql`DELETE FROM dirsyncd.decisions AS d USING dirsyncd.changes AS c
    WHERE c.run = ${run} AND c.state IN ('applied', 'found', 'already') AND c.fingerprint = d.fingerprint
      AND d.sync = ${sync} AND d.target = ${target} AND d.decision = 'approved'`.execute(db)
}

/** Whoever undoes a run takes back what was approved for it, also what of that it did not do. */
export async function takeBackApprovals(
  db: Db,
  { run, sync, target, approval_of: hold }: RunRecord,
): Promise<void> {
  await sql`DELETE FROM dirsyncd.decisions AS d WHERE d.sync = ${sync} AND d.target = ${target}
    AND d.decision = 'approved' AND (d.run = ${hold}
      OR d.fingerprint IN (SELECT fingerprint FROM dirsyncd.changes WHERE run = ${run}))`.execute(db)
}
