import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import type { Kind } from '../directory/entry.ts'
import { pointInTime } from '../directory/wording.ts'
import { type Change, partFingerprints } from '../plan/change.ts'
import { choices, decidedChanges, type Decision, holdAfter, type RecordedBreach } from '../plan/decide.ts'
import type { Breach } from '../plan/guards.ts'
import { leftOut } from '../plan/left-out.ts'
import { opsOfPart, type Part } from '../plan/part/part.ts'
import { byCodeUnit } from '../directory/normalize.ts'
import { dropHeldChanges, heldBreaches, storeHeldChanges, summaries } from './held-changes.ts'
import { isOfEntries } from './of-entries.ts'
import type { HoldState, RecordedDecision, RunState, SyncTarget, Undo } from './run-types.ts'
import { storableJson } from './storable.ts'
import type { RunsTable, Tables } from './tables.ts'

type Db = Kysely<Tables>

type RunRecord = Selectable<RunsTable>

/** What people decided about held changes, by fingerprint. */
export interface Decisions {
  readonly approved: ReadonlySet<string>
  readonly rejected: ReadonlyMap<string, string>
}

/** A decision, and who makes it: about all breaches that wait for one, or only about those of the guards in `only`. */
export interface NewDecision {
  readonly decision: Decision
  readonly by: string
  readonly reason?: string | undefined
  readonly only?: readonly string[] | undefined
}

/**
 * Records a person's decision about what a run holds, and ends the hold when nothing of it is undecided. Returns the
 * run as it is then.
 *
 * @param check throws where this run takes no such decision; it gets the locked run and the breaches that can be
 *   decided about
 */
export async function decide(
  db: Db,
  number: number,
  { decision, by, only, reason }: NewDecision,
  check: (trx: Db, run: RunRecord, breaches: readonly RecordedBreach[]) => Promise<void>,
): Promise<RunRecord> {
  return db.transaction().execute(async (trx) => {
    const run = await lockRun(trx, number)
    const before = { ...run, breaches: await breachesOf(trx, run, decision) }
    const possible = choices(before, decision, only !== undefined)
    await check(trx, run, possible)
    const chosen = possible.filter(({ guard }) => only?.includes(guard) ?? true)
    await recordDecision(trx, run, { decision, by }, decidedChanges(before, decision, chosen))
    // Whoever rejects a plan as a whole has decided on what another one left out of it.
    if (decision === 'rejected' && only === undefined) await forgetLeftOut(trx, run)
    if (run.hold === 'approved') await storeHeldChanges(trx, run.run, chosen)
    const breaches = before.breaches.map((breach) =>
      chosen.includes(breach) ? { ...breach, decided: decision } : breach,
    )
    const { approved, rejected } = await decisionsOf(trx, { ...run, isUndo: run.undo !== null })
    const hold = holdAfter({ ...run, breaches }, (print) => approved.has(print) || rejected.has(print))
    // What was rejected may still be approved.
    if (hold === 'approved') await dropHeldChanges(trx, run.run)
    const kept = summaries(breaches)
    await trx
      .updateTable('dirsyncd.runs')
      .set({ hold, breaches: JSON.stringify(kept), decisions: withDecision({ decision, by, only, reason }) })
      .where('run', '=', run.run)
      .execute()
    return lockRun(trx, run.run)
  })
}

/**
 * The breaches of a run with the changes that they name. Of an approved hold these are not kept, only which of them
 * still wait to be applied: each breach names them all.
 */
async function breachesOf(trx: Db, run: RunRecord, decision: Decision): Promise<readonly RecordedBreach[]> {
  if (run.hold !== 'approved' || decision !== 'rejected')
    return heldBreaches(trx, run.run, run.breaches ?? [])
  const changes = [...(await approvedIn(trx, run.run))].toSorted(byCodeUnit)
  return (run.breaches ?? []).map((breach) => ({ ...breach, changes }))
}

async function forgetLeftOut(trx: Db, { run, sync, target }: RunRecord): Promise<void> {
  await sql`DELETE FROM dirsyncd.decisions WHERE sync = ${sync} AND target = ${target} AND run = ${run}
    AND decision = 'left-out'`.execute(trx)
}

/** The decisions of a run with one more. */
function withDecision(decided: Omit<RecordedDecision, 'at'>) {
  return sql<string>`decisions || jsonb_build_array(${storableJson(decided)}::jsonb
    || jsonb_build_object('at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`
}

/** Whoever decides about all of a hold leaves to others what they decided in the same way before. */
const INSTEAD_OF_EARLIER = sql`ON CONFLICT (sync, target, fingerprint) DO UPDATE
  SET decision = excluded.decision, run = excluded.run, decided_at = now(), decided_by =
    CASE WHEN (d.decision, d.run) = (excluded.decision, excluded.run) THEN d.decided_by ELSE excluded.decided_by END`

export interface PartApproval {
  readonly by: string
  readonly reason?: string | undefined
  readonly part: Part
}

/**
 * Approves the changes of a held plan that a part of it names, and lets the others wait for a decision of their own,
 * unless they were rejected. Returns how many changes the part names, or decides nothing where it has no change of some
 * ids, and returns those.
 *
 * @param check throws where the hold of this run takes no such decision; it gets the locked run
 */
export async function approvePart(
  db: Db,
  number: number,
  { by, reason, part }: PartApproval,
  check: (run: RunRecord) => void,
): Promise<{ readonly named: number; readonly unknown: readonly string[] }> {
  return db.transaction().execute(async (trx) => {
    const run = await lockRun(trx, number)
    check(run)
    const isRejected = sql<boolean>`EXISTS (SELECT FROM dirsyncd.decisions AS d WHERE d.sync = ${run.sync}
      AND d.target = ${run.target} AND d.fingerprint = changes.fingerprint AND d.decision = 'rejected')`
    const isNamed = run.hold === 'open' ? namedBy(part) : sql<boolean>`(${namedBy(part)} AND ${isRejected})`
    const unknown = await idsWithoutChange(trx, run, part, isNamed)
    if (unknown.length > 0) return { named: 0, unknown }
    const { rows } = await sql<{ fingerprint: string }>`INSERT INTO dirsyncd.decisions AS d
        (sync, target, fingerprint, decision, run, decided_by)
      SELECT DISTINCT ON (fingerprint) ${run.sync}, ${run.target}, fingerprint, 'approved', ${number}::integer, ${by}
      FROM dirsyncd.changes WHERE run = ${number} AND ${isNamed}
      ${INSTEAD_OF_EARLIER} RETURNING fingerprint`.execute(trx)
    await forgetForms(
      trx,
      run,
      rows.map(({ fingerprint }) => fingerprint),
    )
    // The members of a group are rejected as a whole.
    const named = rows.length + (run.hold === 'open' ? await countMemberships(trx, number, part) : 0)
    if (named === 0) return { named, unknown }
    if (run.hold === 'open') await leaveOut(trx, run, sql`NOT ${isNamed}`, by)
    await trx
      .updateTable('dirsyncd.runs')
      .set({
        decisions: withDecision({ decision: 'approved', by, reason, part }),
      })
      .where('run', '=', number)
      .execute()
    return { named, unknown }
  })
}

/** Which ids of a part have no change in it, neither their own nor, in an open hold, of a membership. */
async function idsWithoutChange(
  trx: Db,
  { run, hold }: RunRecord,
  part: Part,
  isNamed: RawBuilder<boolean>,
): Promise<readonly string[]> {
  if (part.ids === undefined) return []
  const hasMembers = hold === 'open' && opsOfPart(part).includes('set-members')
  const members = sql`SELECT moved.id FROM dirsyncd.changes, LATERAL (
      (SELECT jsonb_array_elements_text(change -> 'want') EXCEPT SELECT jsonb_array_elements_text(change -> 'have'))
      UNION ALL
      (SELECT jsonb_array_elements_text(change -> 'have') EXCEPT SELECT jsonb_array_elements_text(change -> 'want'))
    ) AS moved (id) WHERE run = ${run} AND op = 'set-members'`
  const { rows } = await sql<{ id: string }>`SELECT unnest(${part.ids}::text[]) AS id
    EXCEPT SELECT entry_id FROM dirsyncd.changes WHERE run = ${run} AND ${isNamed}
    ${hasMembers ? sql`EXCEPT (${members})` : sql``}`.execute(trx)
  return rows.map(({ id }) => id)
}

/** What the person left out is not applied either before somebody decides about it, whatever the guards say. */
async function leaveOut(
  trx: Db,
  { run, sync, target }: RunRecord,
  isLeft: RawBuilder<unknown>,
  by: string,
): Promise<void> {
  await sql`INSERT INTO dirsyncd.decisions AS d (sync, target, fingerprint, decision, run, decided_by)
    SELECT DISTINCT ${sync}, ${target}, print, 'left-out', ${run}::integer, ${by}
    FROM dirsyncd.changes, unnest(ARRAY[fingerprint, wish]) AS print
    WHERE run = ${run} AND print IS NOT NULL AND ${isLeft}
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET decision = excluded.decision, run = excluded.run, decided_by = excluded.decided_by, decided_at = now()
    WHERE d.decision <> 'approved'`.execute(trx)
}

/** What people left out who approved parts of plans, and nobody has decided about since. */
export async function leftOutOf(db: Db, { sync, target }: SyncTarget): Promise<Breach | undefined> {
  const rows = await db
    .selectFrom('dirsyncd.decisions')
    .select(['fingerprint', 'run', 'decided_by'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('decision', '=', 'left-out')
    .orderBy('run', 'desc')
    .execute()
  const [last] = rows
  if (last === undefined) return undefined
  return leftOut(
    rows.map(({ fingerprint }) => fingerprint),
    last.decided_by,
    last.run,
  )
}

/** Whether a part names a row of `changes`. */
function namedBy(part: Part): RawBuilder<boolean> {
  return sql<boolean>`(op = ANY(${opsOfPart(part)}::text[]) AND ${isOfEntries(part.ids)})`
}

/** How many changes of a run a part names, and changes of members that concern a user of it. */
export async function countInPart(db: Db, run: number, part: Part): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND ${namedBy(part)}`.execute(db)
  return (rows[0]?.count ?? 0) + (await countMemberships(db, run, part))
}

/** How many changes of members concern a user whom the part names. */
async function countMemberships(trx: Db, run: number, part: Part): Promise<number> {
  if (part.ids === undefined || !opsOfPart(part).includes('set-members')) return 0
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND op = 'set-members' AND (change -> 'want' ?| ${part.ids}::text[]
      OR change -> 'have' ?| ${part.ids}::text[])`.execute(trx)
  return rows[0]?.count ?? 0
}

/** How many deletes of a run ended memberships that a part names: no change of members says so. */
export async function countEndedMemberships(db: Db, run: number, part: Part): Promise<number> {
  if (!opsOfPart(part).includes('set-members')) return 0
  const others = sql`coalesce(change -> 'have' -> 'groups', change -> 'have' -> 'members', '[]')`
  const isNamed =
    part.ids === undefined
      ? sql`${others} <> '[]'`
      : sql`(${others} ?| ${part.ids}::text[] OR entry_id = ANY(${part.ids}::text[]))`
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM dirsyncd.changes
    WHERE run = ${run} AND op LIKE 'delete-%' AND ${isNamed}`.execute(db)
  return rows[0]?.count ?? 0
}

function lockRun(trx: Db, number: number): Promise<RunRecord> {
  return trx
    .selectFrom('dirsyncd.runs')
    .selectAll()
    .where('run', '=', number)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

async function recordDecision(
  db: Db,
  run: RunRecord,
  { decision, by }: NewDecision,
  fingerprints: readonly string[],
): Promise<void> {
  const { sync, target, run: number } = run
  const prints =
    decision === 'rejected' ? [...fingerprints, ...(await formsOf(db, number, fingerprints))] : fingerprints
  await sql`INSERT INTO dirsyncd.decisions AS d (sync, target, fingerprint, decision, run, decided_by)
    SELECT DISTINCT ${sync}, ${target}, fingerprint, ${decision}, ${number}::integer, ${by}
    FROM unnest(${prints}::text[]) AS fingerprint ${INSTEAD_OF_EARLIER}`.execute(db)
  if (decision === 'approved') await forgetForms(db, run, fingerprints)
}

/** The fingerprints of other forms of these changes of a run: what the source wants with them, and their parts. */
async function formsOf(db: Db, run: number, fingerprints: readonly string[]): Promise<readonly string[]> {
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

/** Whoever approves a change was shown this form of it: of the others, an earlier decision is over, and none is made. */
async function forgetForms(
  db: Db,
  { sync, target, run }: RunRecord,
  fingerprints: readonly string[],
): Promise<void> {
  const forms = await formsOf(db, run, fingerprints)
  if (forms.length === 0) return
  await db
    .deleteFrom('dirsyncd.decisions')
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('decision', '<>', 'approved')
    .where(sql<boolean>`fingerprint = ANY(${forms}::text[])`)
    .execute()
}

/** What was decided about the holds of undos, or about those of all other runs: the one says nothing about the other. */
export async function decisionsOf(
  db: Db,
  { sync, target, isUndo }: SyncTarget & { readonly isUndo: boolean },
): Promise<Decisions> {
  const rows = await db
    .selectFrom('dirsyncd.decisions as d')
    .leftJoin('dirsyncd.runs as r', 'r.run', 'd.run')
    .select([
      'd.fingerprint',
      'd.decision',
      'd.run',
      'd.decided_by',
      'd.decided_at',
      'r.hold',
      'r.state',
      'r.undo',
    ])
    .where('d.sync', '=', sync)
    .where('d.target', '=', target)
    .where('r.undo', isUndo ? 'is not' : 'is', null)
    .execute()
  const approved = new Set<string>()
  const rejected = new Map<string, string>()
  for (const row of rows) {
    if (row.decision === 'approved') approved.add(row.fingerprint)
    if (row.decision === 'rejected')
      rejected.set(
        row.fingerprint,
        `rejected by ${row.decided_by} at ${pointInTime(row.decided_at.toISOString())} in the hold of run ${row.run}${whatReleases(row)}`,
      )
  }
  return { approved, rejected }
}

/** The fingerprints of what was approved in the hold of this run. */
export async function approvedIn(db: Db, run: number | null): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('dirsyncd.decisions')
    .select('fingerprint')
    .where('run', '=', run)
    .where('decision', '=', 'approved')
    .execute()
  return new Set(rows.map(({ fingerprint }) => fingerprint))
}

/** Whether changes that were approved in this run's hold still wait to be applied. */
export async function awaitsApplying(db: Db, run: number): Promise<boolean> {
  const query = db.selectFrom('dirsyncd.decisions').select('run').where('run', '=', run)
  return (await query.where('decision', '=', 'approved').limit(1).executeTakeFirst()) !== undefined
}

/** The run that applies what was approved in this run's hold, until that has ended. */
export async function applyingRun(db: Db, run: number): Promise<number | undefined> {
  const query = db.selectFrom('dirsyncd.runs').select('run').where('approval_of', '=', run)
  return (await query.where('finished_at', 'is', null).orderBy('run').limit(1).executeTakeFirst())?.run
}

/** The runs of a person's approvals of this run's hold, the first one first. */
export async function approvalRunsOf(db: Db, run: number): Promise<readonly number[]> {
  const rows = await db
    .selectFrom('dirsyncd.runs')
    .select('run')
    .where('approval_of', '=', run)
    .orderBy('run')
    .execute()
  return rows.map((row) => row.run)
}

/**
 * A hold that a newer run ended takes no decision any more: what was rejected there stays rejected until it changes. A
 * hold often has many changes, so a person is told how to release one alone.
 */
function whatReleases({
  run,
  hold,
  state,
  undo,
}: {
  readonly run: number
  readonly hold: HoldState | null
  readonly state: RunState | null
  readonly undo: Undo | null
}): string {
  if (hold !== 'open' && hold !== 'rejected') return ''
  if (undo === null && state === 'held') return `; dirsyncd approve ${run} --id ID releases it`
  const name = hold === 'open' ? ' --only NAME' : ''
  return `; dirsyncd approve ${run}${name} releases all that was rejected there`
}

/**
 * Entries of which a run does not tell whether a change of theirs is still wanted, because it could not use or compare
 * them.
 */
export type Unjudged = 'all' | Readonly<Record<Kind, readonly string[]>>

/**
 * Forgets all decisions but those about these changes: a decision ends when its change is applied or no longer wanted.
 * A rejection of what a run could not judge stays; an approval of that is given anew.
 */
export async function forgetOtherDecisions(
  db: Db,
  { sync, target }: SyncTarget,
  wanted: readonly string[],
  unjudged: () => Unjudged,
): Promise<void> {
  const isOther = sql`sync = ${sync} AND target = ${target} AND fingerprint <> ALL(${wanted}::text[])`
  const { rows } = await sql<{ run: number }>`SELECT DISTINCT run FROM dirsyncd.decisions
    WHERE ${isOther} AND decision <> 'approved'`.execute(db)
  const runs = rows.map(({ run }) => run)
  const ids = runs.length === 0 ? { user: [], group: [] } : unjudged()
  const kept =
    ids === 'all'
      ? []
      : [...(await printsOf(db, runs, ids)), ...(await wantedInParts(db, { sync, target }, runs, wanted))]
  const isOver = ids === 'all' ? sql`false` : sql`fingerprint <> ALL(${kept}::text[])`
  await sql`DELETE FROM dirsyncd.decisions WHERE ${isOther} AND (decision = 'approved' OR ${isOver})`.execute(
    db,
  )
}

/** The fingerprints of rejected changes of which a part is wanted: whoever approves one of them releases its parts. */
async function wantedInParts(
  db: Db,
  { sync, target }: SyncTarget,
  runs: readonly number[],
  wanted: readonly string[],
): Promise<readonly string[]> {
  if (runs.length === 0 || wanted.length === 0) return []
  const { rows } = await sql<ChangeForms>`SELECT c.fingerprint, c.wish, c.change FROM dirsyncd.changes AS c
    JOIN dirsyncd.decisions AS d ON d.run = c.run AND d.fingerprint = c.fingerprint
    WHERE c.run = ANY(${runs}::integer[]) AND d.sync = ${sync} AND d.target = ${target}
      AND d.decision = 'rejected'`.execute(db)
  const open = new Set(wanted)
  return rows.flatMap((row) => (formsIn(row).some((print) => open.has(print)) ? [row.fingerprint] : []))
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
