import { isDeepStrictEqual } from 'node:util'
import { type Kysely, sql } from 'kysely'
import { type RecordedBreach, undecided } from '../core/plan/decide.ts'
import { everyInSteps, forEachInSteps, type Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import { decisionsOf } from './decisions.ts'
import type { Fenced } from './fenced-run.ts'
import { dropHeldChanges, heldBreaches, type HeldRows, storeHeldChanges } from './held-changes.ts'
import type { HoldState, RunCounts, RunState } from './run-types.ts'
import { finishRun, type RunRecord } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/**
 * Ends a run with a hold: as `held` when nothing of it was applied, as `done` when only some changes wait. A sync has
 * one open hold: where it holds the same changes it stays and this run points to it, otherwise this run's replaces it.
 * But no run of single entries replaces the hold of a whole run: its own counts as replaced from the beginning. An undo
 * replaces every hold, because the next whole run holds again what it finds.
 */
export async function holdRun(
  trx: Fenced,
  run: RunRecord,
  state: 'held' | 'done',
  { held, seen, counts, lastsMs }: NewHold,
): Promise<void> {
  const open = await openHold(trx, run.sync)
  const same = open !== undefined && isSame(open, seen)
  if (open && !same && isOfSingleEntries(run) && open.only_entries === null) {
    await endHeldRun(trx, run.run, { state, counts, hold: 'replaced', hold_run: open.run })
    return
  }
  if (open && !same) await endHold(trx, open.run, open.is_expired ? 'expired' : 'replaced')
  if (!same) await storeHeldChanges(trx, run.run, held)
  const hold_run = same ? open.run : run.run
  await endHeldRun(trx, run.run, { state, counts, hold: same ? null : 'open', hold_run })
  if (!same) await setExpiry(trx, run.run, lastsMs)
}

export interface NewHold {
  readonly held: HeldRows
  /** The open hold before. */
  readonly seen: SeenHold | undefined
  readonly counts: RunCounts
  /** For how long somebody may decide about it, in milliseconds. */
  readonly lastsMs: number
}

async function setExpiry(trx: Fenced, run: number, lastsMs: number): Promise<void> {
  await trx
    .updateTable('dirsyncd.runs')
    .set({ hold_expires_at: sql<Date>`now() + make_interval(secs => ${lastsMs / 1000})` })
    .where('run', '=', run)
    .execute()
}

function isOfSingleEntries({ only_entries: only, undo }: RunRecord): boolean {
  return only !== null && undo === null
}

/**
 * Where the sync's open hold has the same plan, ends the run as held by it, so that the plan is not stored again.
 * Returns whether it did.
 */
export async function joinHold(
  trx: Fenced,
  run: RunRecord,
  { seen, counts, digest }: Pick<NewHold, 'seen' | 'counts'> & { readonly digest: string },
): Promise<boolean> {
  const open = await openHold(trx, run.sync)
  if (open?.state !== 'held' || open.digest !== digest || !isSame(open, seen)) return false
  await endHeldRun(trx, run.run, { state: 'held', counts, hold: null, hold_run: open.run })
  return true
}

async function endHeldRun(
  trx: Fenced,
  run: number,
  { state, counts, ...hold }: Pick<RunRecord, 'state' | 'hold' | 'hold_run'> & { readonly counts: RunCounts },
): Promise<void> {
  await finishRun(trx, run, { state, counts })
  await trx.updateTable('dirsyncd.runs').set(hold).where('run', '=', run).execute()
}

/** Ends the sync's open hold, because a run found nothing to hold. */
export async function closeHold(trx: Fenced, sync: string): Promise<void> {
  const open = await openHold(trx, sync)
  if (open) await endHold(trx, open.run, 'closed')
}

/** What became of the holds of these runs; those that are open are left out. */
export async function endedHolds(db: Db, runs: readonly number[]): Promise<ReadonlyMap<number, HoldState>> {
  if (runs.length === 0) return new Map()
  const rows = await db
    .selectFrom('dirsyncd.runs')
    .select(['run', 'hold'])
    .where('run', 'in', runs)
    .where('hold', '<>', 'open')
    .execute()
  return new Map(rows.flatMap(({ run, hold }) => (hold === null ? [] : [[run, hold] as const])))
}

async function endHold(trx: Fenced, run: number, hold: 'replaced' | 'closed' | 'expired'): Promise<void> {
  await dropHeldChanges(trx, run)
  await trx.updateTable('dirsyncd.runs').set({ hold }).where('run', '=', run).execute()
}

interface OpenHold extends RunRecord {
  readonly is_expired: boolean
}

/** The sync's open hold, locked so that nobody decides on it meanwhile. */
function openHold(trx: Fenced, sync: string): Promise<OpenHold | undefined> {
  return selectOpenHold(trx, sync).forUpdate().executeTakeFirst()
}

function selectOpenHold(db: Db, sync: string) {
  return db
    .selectFrom('dirsyncd.runs')
    .selectAll()
    .select(sql<boolean>`COALESCE(hold_expires_at <= now(), false)`.as('is_expired'))
    .where('sync', '=', sync)
    .where('hold', '=', 'open')
}

/** The open hold of a sync, as it was when it was compared with what a run holds. */
export interface SeenHold extends Pick<RunRecord, 'run' | 'decisions'> {
  /** Whether it has the same undecided changes. */
  readonly isSame: boolean
}

/** An operator may have decided about it since. */
function isSame(open: OpenHold, seen: SeenHold | undefined): boolean {
  if (seen?.isSame !== true || open.is_expired) return false
  return open.run === seen.run && open.decisions.length === seen.decisions.length
}

interface Held {
  readonly state: RunState
  readonly breaches: readonly RecordedBreach[]
}

/**
 * Compares the sync's open hold with what a run holds. For a run of single entries, the hold needs at least these
 * changes, so that the hold of a whole run stays. Call it before the transaction: there may be many changes.
 */
export async function compareHold(db: Db, run: RunRecord, held: Held): Promise<SeenHold | undefined> {
  const open = await selectOpenHold(db, run.sync).executeTakeFirst()
  if (open === undefined) return undefined
  const { run: number, decisions } = open
  return { run: number, decisions, isSame: await isHeldBy(db, open, run, held) }
}

async function isHeldBy(db: Db, open: RunRecord, run: RunRecord, held: Held): Promise<boolean> {
  if (open.target !== run.target) return false
  // Whoever approves an undo approves all that it puts back, not only what is held.
  if (!isDeepStrictEqual(open.undo, run.undo)) return false
  // What is left of a plan whose part was approved is a hold of its own.
  if (open.decisions.some(({ part }) => part !== undefined)) return false
  const { approved, rejected } = await decisionsOf(db, { ...run, isUndo: run.undo !== null })
  const isDecided = (print: string) => approved.has(print) || rejected.has(print)
  const breaches = await heldBreaches(db, open.run, open.breaches ?? [])
  const before = await inTurns(undecidedIn({ state: open.state, breaches }, isDecided))
  const now = await inTurns(undecidedIn(held, isDecided))
  if (now.size !== before.size && !isOfSingleEntries(run)) return false
  return inTurns(everyInSteps(now, (print) => before.has(print)))
}

function* undecidedIn(
  { state, breaches }: Held,
  isDecided: (print: string) => boolean,
): Steps<ReadonlySet<string>> {
  const all = new Set<string>()
  for (const { changes } of undecided(state, breaches))
    yield* forEachInSteps(changes, (print) => isDecided(print) || all.add(print))
  return all
}

/** The run that has the open hold of a sync. */
export async function openHoldOf(db: Db, sync: string): Promise<number | undefined> {
  const query = db
    .selectFrom('dirsyncd.runs')
    .select('run')
    .where('sync', '=', sync)
    .where('hold', '=', 'open')
  return (await query.executeTakeFirst())?.run
}
