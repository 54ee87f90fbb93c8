import { noticesOfEntry } from '../../store/plans.ts'
import { type RawBuilder, sql } from 'kysely'
import type { Kind } from '../../core/entries/entry.ts'
import { canonicalEmail } from '../../core/entries/normalize.ts'
import type { Notice } from '../../core/notice.ts'
import type { DeleteReason, Op } from '../../core/plan/change.ts'
import { type ChangeRecord, changesWhere } from '../../store/change-list.ts'
import { journalRows } from '../../store/journal.ts'
import type { RunState, SyncTarget } from '../../store/run-types.ts'
import { IS_OF_ALL, type RunRecord } from '../../store/runs.ts'
import type { Db } from '../../store/tables.ts'

export interface EntryKey {
  readonly kind: Kind
  readonly id: string
}

/** One attempt of a change, and what came of it. */
interface JournalLine {
  readonly run: number
  readonly op: Op
  readonly fingerprint: string
  readonly at: Date
  readonly outcome: string
  readonly status: number | null
  readonly detail: string | null
  /** Null where nobody had to. */
  readonly approvedBy: string | null
  /** Why the plan deleted the entry, where the plan is still kept. */
  readonly why: DeleteReason | null
  /** The run that this one undid. */
  readonly undoes: number | null
}

/** The last attempts to change an entry, the newest first. */
export async function journalOf(
  db: Db,
  { sync, target }: SyncTarget,
  { kind, id }: EntryKey,
  limit: number,
): Promise<readonly JournalLine[]> {
  const { rows } =
    await sql<JournalLine>`SELECT j.run, j.op, j.fingerprint, j.intent_at AS at, j.outcome, j.status, j.detail,
      j.approved_by AS "approvedBy", c.change->>'why' AS why, (r.undo->>'run')::integer AS undoes
    FROM ${journalRows([id])} AS j LEFT JOIN dirsyncd.changes AS c ON c.run = j.run AND c.number = j.number
      LEFT JOIN dirsyncd.runs AS r ON r.run = j.run
    WHERE j.sync = ${sync} AND j.target = ${target} AND ${isOf(kind, sql`j.op`)}
    ORDER BY j.intent_at DESC LIMIT ${limit}`.execute(db)
  return rows
}

function isOf(kind: Kind, op: RawBuilder<unknown>): RawBuilder<boolean> {
  return kind === 'user' ? sql<boolean>`${op} LIKE '%-user'` : sql<boolean>`${op} NOT LIKE '%-user'`
}

/** A run that read both sides to their end. */
interface RunFacts {
  readonly run: number
  readonly state: RunState
  readonly at: Date
  readonly notices: readonly Notice[]
}

/**
 * The newest run that read everything to its end, or that was limited to this entry or changed it, as a part of a plan and
 * an undo do, with what it noticed of the entry.
 *
 * @param key left out for an entry without an id, which no run can name
 * @param changedIn the runs that changed the entry
 */
export async function lastRunAbout(
  db: Db,
  { sync, target }: SyncTarget,
  key: EntryKey | undefined,
  changedIn: readonly number[],
): Promise<RunFacts | undefined> {
  const isLimitedToIt =
    key === undefined ? sql<boolean>`false` : sql<boolean>`scope->${`${key.kind}s`} ? ${key.id}`
  const { rows } = await sql<Omit<RunFacts, 'notices'>>`
    SELECT run, state, finished_at AS at FROM dirsyncd.runs
    WHERE sync = ${sync} AND target = ${target} AND state IN ('done', 'held', 'planned') AND finished_at IS NOT NULL
      AND (${IS_OF_ALL} OR ${isLimitedToIt} OR run = ANY(${changedIn}::integer[]))
    ORDER BY run DESC LIMIT 1`.execute(db)
  const [last] = rows
  if (last === undefined) return undefined
  return { ...last, notices: key === undefined ? [] : await noticesOfEntry(db, last.run, key) }
}

/** The newest run of the whole sync that has ended, if it failed. */
export async function lastFailureOfSync(
  db: Db,
  { sync, target }: SyncTarget,
): Promise<{ readonly run: number; readonly at: Date; readonly error: string } | undefined> {
  const { rows } = await sql<{ run: number; state: RunState; at: Date; error: string | null }>`
    SELECT run, state, finished_at AS at, error FROM dirsyncd.runs
    WHERE sync = ${sync} AND target = ${target} AND finished_at IS NOT NULL AND ${IS_OF_ALL}
    ORDER BY run DESC LIMIT 1`.execute(db)
  const [last] = rows
  if (last?.state !== 'failed') return undefined
  return { run: last.run, at: last.at, error: last.error ?? 'it was interrupted' }
}

/** What a run did or blocks of an entry and of the members of a group, as its report shows it. */
export async function changesOfEntry(
  db: Db,
  run: RunRecord,
  { kind, id }: EntryKey,
): Promise<readonly ChangeRecord[]> {
  return changesWhere(db, run, sql`c.entry_id = ${id} AND ${isOf(kind, sql`c.op`)}`)
}

/** The member changes of a run, also blocked ones, that a user is in. */
export async function membershipsOfUser(
  db: Db,
  run: RunRecord,
  user: string,
): Promise<readonly ChangeRecord[]> {
  return changesWhere(
    db,
    run,
    sql`c.op = 'set-members' AND (c.change->'want' ? ${user}) <> (c.change->'have' ? ${user})`,
  )
}

/** An entry that earlier runs saw. */
interface KnownEntry extends EntryKey {
  readonly name: string | null
  readonly email: string | null
}

/**
 * The entries that earlier runs changed, or were to change, under this id, e-mail or name, as far as the store still has it. Reads
 * all kept changes of the sync, so ask only when the source has none.
 */
export async function knownEntries(
  db: Db,
  { sync, target }: SyncTarget,
  who: string,
): Promise<readonly KnownEntry[]> {
  const spellings = [...new Set([canonicalEmail(who), canonicalEmail(who).normalize('NFD')])]
  const isNamed = (values: RawBuilder<unknown>) =>
    sql<boolean>`lower(${values}->>'email') = ANY(${spellings}::text[]) OR lower(${values}->>'name') = ANY(${spellings}::text[])`
  const { rows } = await sql<{
    op: Op
    id: string
    values: { name?: string | null; email?: string | null } | null
  }>`
    SELECT c.op, c.entry_id AS id, coalesce(c.change->'have', '{}') || coalesce(c.change->'want', '{}') AS values
      FROM dirsyncd.changes AS c JOIN dirsyncd.runs AS r USING (run)
      WHERE r.sync = ${sync} AND r.target = ${target} AND c.op <> 'set-members'
        AND (c.entry_id = ${who} OR ${isNamed(sql`(c.change->'have')`)} OR ${isNamed(sql`(c.change->'want')`)})
    UNION ALL SELECT op, entry_id, before FROM dirsyncd.journal
      WHERE sync = ${sync} AND target = ${target} AND op <> 'set-members'
        AND (entry_id = ${who} OR ${isNamed(sql`before`)})
    UNION ALL SELECT op, entry_id, NULL FROM dirsyncd.quarantine
      WHERE sync = ${sync} AND target = ${target} AND entry_id = ${who}`.execute(db)
  const known = new Map<string, KnownEntry>()
  for (const { op, id, values } of rows) {
    const kind = op.endsWith('-user') ? 'user' : 'group'
    const before = known.get(`${kind} ${id}`)
    const name = before?.name ?? values?.name ?? null
    const email = before?.email ?? values?.email ?? null
    known.set(`${kind} ${id}`, { kind, id, name, email })
  }
  return [...known.values()]
}
