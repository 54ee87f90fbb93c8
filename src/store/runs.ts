import { type Kysely, type Selectable, sql } from 'kysely'
import type { Kind } from '../directory/entry.ts'
import type { ErrorCode } from '../errors.ts'
import { type RecordedBreach, undecided } from '../plan/decide.ts'
import { type Breach, heldChanges } from '../plan/guards.ts'
import type { Only } from '../plan/inputs.ts'
import type { Nesting } from '../plan/evidence/finding.ts'
import type { ServerMemory } from '../plan/server.ts'
import { decisionsOf } from './decisions.ts'
import { type Fenced, Overtaken } from './fenced-run.ts'
import { dropHeldChanges, heldBreaches, storeHeldChanges, summaries } from './held-changes.ts'
import type { RunCounts, RunMode, RunState, RunTrigger, SyncTarget } from './run-types.ts'
import { storable, storableJson } from './storable.ts'
import type { RunsTable, Tables } from './tables.ts'

export type RunRecord = Selectable<RunsTable>

type Db = Kysely<Tables>

export interface NewRun {
  readonly sync: string
  readonly target: string
  readonly mode: RunMode
  readonly trigger: RunTrigger
  readonly only?: Only | undefined
  /** The runs before it that ended with their process, and how long it waits because of that. */
  readonly after?: { readonly inRow: number; readonly waitMinutes: number } | undefined
}

/** Adds a run that waits for somebody to take it, and returns its number. */
export async function addRun(db: Db, run: NewRun): Promise<number> {
  const row = await db
    .insertInto('dirsyncd.runs')
    .values({
      sync: run.sync,
      target: run.target,
      mode: run.mode,
      trigger: run.trigger,
      only_entries: run.only === undefined ? null : JSON.stringify(run.only),
      state: 'waiting',
      ...(run.after !== undefined && {
        interruptions: run.after.inRow,
        begin_after: sql<Date>`now() + make_interval(mins => ${run.after.waitMinutes})`,
      }),
    })
    .returning('run')
    .executeTakeFirstOrThrow()
  return row.run
}

/** The oldest run of the sync that nobody has taken yet and that may begin. */
export function nextWaitingRun(db: Db, sync: string): Promise<RunRecord | undefined> {
  return waitingRuns(db, sync)
    .where(sql<boolean>`(begin_after IS NULL OR begin_after <= now())`)
    .selectAll()
    .orderBy('run')
    .limit(1)
    .executeTakeFirst()
}

/** Ends a run that nobody has taken yet. */
export async function cancelRun(db: Db, run: number): Promise<void> {
  await db
    .updateTable('dirsyncd.runs')
    .set({
      state: 'failed',
      finished_at: sql<Date>`now()`,
      error: 'the command that asked for this run ended before it began',
    })
    .where('run', '=', run)
    .where('state', '=', 'waiting')
    .execute()
}

/** Whether a run waits, be it that it may not begin yet. */
export async function hasWaitingRun(db: Db, sync: string): Promise<boolean> {
  return (await waitingRuns(db, sync).select('run').limit(1).executeTakeFirst()) !== undefined
}

/** Whether a run waits that applies all changes of the sync. */
export async function hasWaitingSync(db: Db, sync: string): Promise<boolean> {
  const query = waitingRuns(db, sync).select('run').where('mode', '=', 'sync')
  return (await query.where('only_entries', 'is', null).limit(1).executeTakeFirst()) !== undefined
}

function waitingRuns(db: Db, sync: string) {
  return db.selectFrom('dirsyncd.runs').where('sync', '=', sync).where('state', '=', 'waiting')
}

/** Whether this sync has ever been asked to run on this target. */
export async function hasRuns(db: Db, sync: string, target: string): Promise<boolean> {
  const row = await db
    .selectFrom('dirsyncd.runs')
    .select('run')
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('mode', '=', 'sync')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Names of the syncs that have a waiting run, or one that was begun under a lease which nobody holds any more. */
export async function syncsWithWork(db: Db, leaseMs: number): Promise<readonly string[]> {
  const { rows } = await sql<{ sync: string }>`
    SELECT DISTINCT r.sync FROM dirsyncd.runs r
    LEFT JOIN dirsyncd.leases l ON l.sync = r.sync
    WHERE r.finished_at IS NULL AND (r.begin_after IS NULL OR r.begin_after <= now() OR r.state <> 'waiting')
      AND (l.renewed_at IS NULL OR l.renewed_at < now() - make_interval(secs => ${leaseMs / 1000}))`.execute(
    db,
  )
  return rows.map((row) => row.sync)
}

/** What a process has of a sync while its lease is its own. */
export interface HeldSync {
  readonly sync: string
  readonly epoch: number
}

/** Does the work while nobody can take the sync over. Throws `Overtaken` where somebody has. */
export async function withLease<T>(
  db: Db,
  { sync, epoch }: HeldSync,
  run: number,
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('dirsyncd.leases')
      .select('sync')
      .where('sync', '=', sync)
      .where('epoch', '=', String(epoch))
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) throw new Overtaken(run)
    return work(trx)
  })
}

/** Marks a waiting run as begun under this lease. */
export async function beginRun(db: Db, lease: HeldSync, run: number): Promise<void> {
  await withLease(db, lease, run, async (trx) => {
    await trx
      .updateTable('dirsyncd.runs')
      .set({ state: 'reading', epoch: lease.epoch, started_at: sql<Date>`now()` })
      .where('run', '=', run)
      .where('state', '=', 'waiting')
      .execute()
  })
}

export async function setRunState(
  trx: Fenced,
  run: number,
  state: RunState,
  more: {
    directoryMoved?: boolean
    approved?: boolean
    counts?: RunCounts
    digest?: string
    breaches?: readonly Breach[]
  } = {},
): Promise<void> {
  await trx
    .updateTable('dirsyncd.runs')
    .set({
      state,
      ...(more.directoryMoved !== undefined && { directory_moved: more.directoryMoved }),
      ...(more.approved !== undefined && { approved: more.approved }),
      ...(more.counts !== undefined && { counts: JSON.stringify(more.counts) }),
      ...(more.digest !== undefined && { digest: more.digest }),
      ...(more.breaches !== undefined && { breaches: JSON.stringify(summaries(more.breaches)) }),
    })
    .where('run', '=', run)
    .execute()
}

/** Interruptions in a row from which on the next run waits, for longer each time. */
const PATIENCE = 3
const FIRST_WAIT_MINUTES = 2
const LONGEST_WAIT_MINUTES = 60

/** A run that ended with its process. */
export interface Interrupted {
  readonly run: RunRecord
  /** How many runs ended so, in a row, with this one. */
  readonly inRow: number
  /** How long the next one waits. */
  readonly waitMinutes: number
}

/** Ends every begun run of the sync, because its process is gone, and returns them. `trx` is that of `withLease`. */
export async function interruptRuns(trx: Db, sync: string): Promise<readonly Interrupted[]> {
  const runs = await trx
    .selectFrom('dirsyncd.runs')
    .selectAll()
    .where('sync', '=', sync)
    .where('finished_at', 'is', null)
    .where('state', '!=', 'waiting')
    .execute()
  const interrupted = runs.map((run) => {
    const inRow = run.left_orderly || run.mode === 'plan' ? 0 : run.interruptions + 1
    const waits = inRow < PATIENCE ? 0 : FIRST_WAIT_MINUTES * 2 ** (inRow - PATIENCE)
    return { run, inRow, waitMinutes: Math.min(waits, LONGEST_WAIT_MINUTES) }
  })
  for (const each of interrupted) {
    await trx
      .updateTable('dirsyncd.runs')
      .set({ state: 'failed', finished_at: sql<Date>`now()`, error: whyInterrupted(each) })
      .where('run', '=', each.run.run)
      .execute()
  }
  return interrupted
}

function whyInterrupted({ run, inRow, waitMinutes }: Interrupted): string {
  if (waitMinutes === 0)
    return 'the process that worked on this run ended; a new run goes on from what both sides say now'
  return (
    `the process that worked on this run ended while it was ${run.state}, as with the ${inRow - 1} runs before: see its log, ` +
    `and whether it has enough memory; the next run waits ${waitMinutes} minutes`
  )
}

/** Notes that the process leaves the run to the next one because it was asked to end. */
export async function leaveRun(trx: Fenced, run: number): Promise<void> {
  await trx.updateTable('dirsyncd.runs').set({ left_orderly: true }).where('run', '=', run).execute()
}

/** Ends a run. */
export async function finishRun(
  trx: Fenced,
  run: number,
  end: { state: RunState; counts?: RunCounts | undefined; error?: string | undefined },
): Promise<void> {
  await trx
    .updateTable('dirsyncd.runs')
    .set({
      state: end.state,
      finished_at: sql<Date>`now()`,
      ...(end.counts !== undefined && { counts: JSON.stringify(end.counts) }),
      ...(end.error !== undefined && { error: storable(end.error) }),
    })
    .where('run', '=', run)
    .execute()
}

/** Called by a worker that met something that must end the whole run; the first reason stays. */
export async function stopRun(trx: Fenced, run: number, code: ErrorCode, reason: string): Promise<void> {
  await trx
    .updateTable('dirsyncd.runs')
    .set({ stop_code: code, stop_reason: storable(reason) })
    .where('run', '=', run)
    .where('stop_code', 'is', null)
    .execute()
}

/**
 * Ends a run with a hold: as `held` when nothing of it was applied, as `done` when only some changes wait. A sync has one open
 * hold: where it holds the same changes it stays and this run points to it, otherwise this run's replaces it. Returns the
 * number of the run that carries the hold.
 */
export async function holdRun(
  trx: Fenced,
  run: RunRecord,
  state: 'held' | 'done',
  { breaches, counts }: { readonly breaches: readonly Breach[]; readonly counts: RunCounts },
): Promise<number> {
  const open = await openHold(trx, run.sync)
  const same = open !== undefined && (await isHeldBy(trx, open, run, { state, breaches }))
  if (open && !same) await setHold(trx, open.run, 'replaced')
  const holder = same ? open.run : run.run
  if (!same) await storeHeldChanges(trx, run.run, breaches)
  await endHeld(trx, run.run, { state, counts, hold: same ? null : 'open', hold_run: holder })
  return holder
}

/**
 * Ends a run as held by the sync's open hold, where that holds the same plan: then this run's plan need not be stored
 * again. Returns whether it did.
 */
export async function joinHold(
  trx: Fenced,
  run: RunRecord,
  { breaches, counts, digest }: { breaches: readonly Breach[]; counts: RunCounts; digest: string },
): Promise<boolean> {
  const open = await openHold(trx, run.sync)
  if (open?.state !== 'held' || open.digest !== digest) return false
  if (!(await isHeldBy(trx, open, run, { state: 'held', breaches }))) return false
  await endHeld(trx, run.run, { state: 'held', counts, hold: null, hold_run: open.run })
  return true
}

async function endHeld(
  trx: Fenced,
  run: number,
  { state, counts, ...hold }: Pick<RunRecord, 'state' | 'hold' | 'hold_run'> & { readonly counts: RunCounts },
): Promise<void> {
  await finishRun(trx, run, { state, counts })
  await trx.updateTable('dirsyncd.runs').set(hold).where('run', '=', run).execute()
}

/** A run found nothing to hold: an open hold of its sync is over. */
export async function closeHold(trx: Fenced, sync: string): Promise<void> {
  const open = await openHold(trx, sync)
  if (open) await setHold(trx, open.run, 'closed')
}

async function setHold(trx: Fenced, run: number, hold: 'replaced' | 'closed'): Promise<void> {
  await dropHeldChanges(trx, run)
  await trx.updateTable('dirsyncd.runs').set({ hold }).where('run', '=', run).execute()
}

/** Locked, so that nobody decides on it meanwhile. */
function openHold(trx: Fenced, sync: string): Promise<RunRecord | undefined> {
  return trx
    .selectFrom('dirsyncd.runs')
    .selectAll()
    .where('sync', '=', sync)
    .where('hold', '=', 'open')
    .forUpdate()
    .executeTakeFirst()
}

interface Held {
  readonly state: RunState
  readonly breaches: readonly RecordedBreach[]
}

/**
 * Whether the open hold holds what this run holds, leaving out what a person has decided about. A run of single entries leaves the
 * hold of a whole run as it is, if that holds these changes too.
 */
async function isHeldBy(db: Db, open: RunRecord, run: RunRecord, held: Held): Promise<boolean> {
  const { approved, rejected } = await decisionsOf(db, run.sync, run.target)
  const waiting = ({ state, breaches }: Held): string[] =>
    heldChanges(undecided(state, breaches)).filter((print) => !approved.has(print) && !rejected.has(print))
  const breaches = await heldBreaches(db, open.run, open.breaches ?? [])
  const before = waiting({ state: open.state, breaches })
  const now = waiting(held)
  if (run.only_entries === null) return before.join() === now.join()
  const all = new Set(before)
  return now.every((print) => all.has(print))
}

export function findRun(db: Db, run: number): Promise<RunRecord | undefined> {
  return db.selectFrom('dirsyncd.runs').selectAll().where('run', '=', run).executeTakeFirst()
}

const LISTED = [
  'run',
  'sync',
  'target',
  'mode',
  'trigger',
  'state',
  'requested_at',
  'started_at',
  'finished_at',
  'counts',
  'breaches',
  'hold',
  'hold_run',
  'digest',
  'approved',
  'error',
] as const

export type ListedRun = Pick<RunRecord, (typeof LISTED)[number]>

/** The newest runs first. */
export function listRuns(
  db: Db,
  filter: { sync?: string | undefined; limit: number },
): Promise<readonly ListedRun[]> {
  let query = db.selectFrom('dirsyncd.runs').select(LISTED).orderBy('run', 'desc').limit(filter.limit)
  if (filter.sync !== undefined) query = query.where('sync', '=', filter.sync)
  return query.execute()
}

/** How much the source had. */
export interface LastGood {
  readonly users: number
  readonly groups: number
  /** How many groups listed a member. */
  readonly groupsWithMembers: number | undefined
  readonly nesting: Nesting
  /** The ids of the groups whose members wait for a person. */
  readonly waitingGroups: ReadonlySet<string>
  /** The server that was read, where the source has servers. */
  readonly server: ServerMemory | undefined
}

/** What the last completed full run of this sync on this target read from the source. */
export async function lastGood(db: Db, sync: string, target: string): Promise<LastGood | undefined> {
  const row = await db
    .selectFrom('dirsyncd.last_good')
    .selectAll()
    .where('sync', '=', sync)
    .where('target', '=', target)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { source_users: users, source_groups: groups, groups_with_members: listing } = row
  return {
    users,
    groups,
    groupsWithMembers: listing ?? undefined,
    nesting: {
      ids: new Map(Object.entries(row.nested_groups)),
      strangers: new Map(Object.entries(row.nested_strangers)),
    },
    waitingGroups: new Set(row.waiting_groups),
    server: row.server ?? undefined,
  }
}

/** How much the directory had at the end of the last good run: what it listed, and what the run changed of that. */
export async function directoryAfterLastGood(
  db: Db,
  { sync, target }: SyncTarget,
): Promise<Record<Kind, number> | undefined> {
  const { rows } = await sql<Record<Kind, number>>`SELECT
      (r.counts->>'directoryUsers')::integer + (count(*) FILTER (WHERE c.op = 'create-user')
        - count(*) FILTER (WHERE c.op = 'delete-user'))::integer AS "user",
      (r.counts->>'directoryGroups')::integer + (count(*) FILTER (WHERE c.op = 'create-group')
        - count(*) FILTER (WHERE c.op = 'delete-group'))::integer AS "group"
    FROM dirsyncd.last_good g JOIN dirsyncd.runs r ON r.run = g.run
    LEFT JOIN dirsyncd.changes c ON c.run = r.run AND c.state IN ('applied', 'found', 'already')
    WHERE g.sync = ${sync} AND g.target = ${target} AND r.counts IS NOT NULL
    GROUP BY r.run`.execute(db)
  return rows[0]
}

export async function rememberGood(
  db: Db,
  run: RunRecord,
  { users, groups, groupsWithMembers, nesting, waitingGroups, server }: LastGood,
): Promise<void> {
  const values = {
    run: run.run,
    source_users: users,
    source_groups: groups,
    groups_with_members: groupsWithMembers ?? null,
    waiting_groups: storableJson([...waitingGroups]),
    server: server === undefined ? null : JSON.stringify(server),
  }
  await db
    .insertInto('dirsyncd.last_good')
    .values({ sync: run.sync, target: run.target, ...values })
    .onConflict((conflict) => conflict.columns(['sync', 'target']).doUpdateSet(values))
    .execute()
  // Long, and nearly always what it was.
  const ids = storableJson(Object.fromEntries(nesting.ids))
  const strangers = storableJson(Object.fromEntries(nesting.strangers))
  await sql`UPDATE dirsyncd.last_good SET nested_groups = ${ids}::jsonb, nested_strangers = ${strangers}::jsonb
    WHERE sync = ${run.sync} AND target = ${run.target}
      AND (nested_groups <> ${ids}::jsonb OR nested_strangers <> ${strangers}::jsonb)`.execute(db)
}

/** Adds groups to those that wait for a person. */
export async function keepWaitingGroups(db: Db, run: RunRecord, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return
  await db
    .updateTable('dirsyncd.last_good')
    .set({
      waiting_groups: sql`(SELECT jsonb_agg(DISTINCT id)
        FROM jsonb_array_elements(waiting_groups || ${storableJson(groups)}::jsonb) AS id)`,
    })
    .where('sync', '=', run.sync)
    .where('target', '=', run.target)
    .execute()
}

/** Keeps what is known of the server after a run that is no measure of the source. */
export async function keepServer(db: Db, run: RunRecord, server: ServerMemory): Promise<void> {
  await db
    .updateTable('dirsyncd.last_good')
    .set({ server: JSON.stringify(server) })
    .where('sync', '=', run.sync)
    .where('target', '=', run.target)
    .execute()
}
