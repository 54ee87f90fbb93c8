import { type Kysely, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { type Change, kindOf, partFingerprints } from '../core/plan/change.ts'
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
export type Unjudged = 'all' | Readonly<Record<Kind, ReadonlySet<string>>>

export interface StillWanted {
  /** The fingerprints of the changes that are open after the run. */
  readonly open: Iterable<string>
  readonly unjudged: () => Promise<Unjudged>
  /** The fingerprints of the parts of a decided change that are still open, also where no plan has the whole change. */
  readonly asked: (change: Change) => readonly string[]
}

/**
 * Finds the decisions that are over, and returns what forgets them unless they are made anew meanwhile: a decision ends when its change is applied or no longer wanted. A
 * rejection of what a run could not judge stays, and of what the plan wants in another form; an approval of that is
 * given anew.
 */
export async function decisionsOver(
  db: Db,
  { sync, target }: SyncTarget,
  wanted: StillWanted,
): Promise<(trx: Db) => Promise<void>> {
  const foundAt = await timeOf(db)
  const rows = await db
    .selectFrom('dirsyncd.decisions')
    .select(['fingerprint', 'run', 'decision'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .execute()
  if (rows.length === 0) return async () => undefined
  const over = new Set<string>()
  /** Their runs. */
  const rejections = new Map<string, number>()
  const sorted = forEachInSteps(rows, ({ fingerprint, run, decision }) => {
    over.add(fingerprint)
    if (decision !== 'approved') rejections.set(fingerprint, run)
  })
  await inTurns(sorted)
  await inTurns(forEachInSteps(wanted.open, (print) => over.delete(print)))
  const runs = new Set<number>()
  await inTurns(forEachInSteps(over, (print) => rejections.has(print) && runs.add(rejections.get(print)!)))
  const ids =
    runs.size === 0 ? { user: new Set<string>(), group: new Set<string>() } : await wanted.unjudged()
  const keep = (print: string) => rejections.has(print) && over.delete(print)
  if (ids === 'all') await inTurns(forEachInSteps(rejections.keys(), keep))
  else
    for (const run of runs)
      for await (const some of changesInParts(db, run))
        await inTurns(
          keepRejections(
            some,
            ids,
            (row) => rejections.get(row.fingerprint) === run && wanted.asked(row.change),
            keep,
          ),
        )
  return async (trx) => {
    await sql`DELETE FROM dirsyncd.decisions WHERE sync = ${sync} AND target = ${target}
      AND decided_at < ${foundAt}::timestamptz AND fingerprint = ANY(${[...over]}::text[])`.execute(trx)
  }
}

/** As text, because a Date has no microseconds. */
async function timeOf(db: Db): Promise<string> {
  const { rows } = await sql<{ now: string }>`SELECT clock_timestamp()::text AS now`.execute(db)
  return rows[0]!.now
}

/** @param asked `false` where the change itself was not decided about */
function* keepRejections(
  changes: readonly ChangeForms[],
  ids: Exclude<Unjudged, 'all'>,
  asked: (row: ChangeForms) => readonly string[] | false,
  keep: (print: string) => void,
): Steps<void> {
  for (const row of changes) {
    const isUnjudged = concerns(row.change, ids)
    const kept = isUnjudged ? [row.fingerprint, ...formsIn(row)] : asked(row) || []
    for (const print of kept) keep(print)
    if (kept.length > 0 && row.wish !== null) keep(row.wish)
    yield
  }
}

/** Also as a member. */
function concerns(change: Change, { user, group }: Exclude<Unjudged, 'all'>): boolean {
  if (kindOf(change.op) === 'user') return user.has(change.id)
  if (group.has(change.id)) return true
  return (
    change.op === 'set-members' && [change.want, change.have].some((ids) => ids.some((id) => user.has(id)))
  )
}

/** As many as one statement reads. */
const ROWS = 1000

async function* changesInParts(db: Db, run: number): AsyncGenerator<readonly ChangeForms[], void> {
  for (let after = 0; ;) {
    const { rows } = await sql<ChangeForms & { number: number }>`SELECT number, fingerprint, wish, change
      FROM dirsyncd.changes WHERE run = ${run} AND number > ${after} ORDER BY number LIMIT ${ROWS}`.execute(
      db,
    )
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined) return undefined
    after = last.number
  }
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
