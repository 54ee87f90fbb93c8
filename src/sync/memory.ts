import { type Kysely, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import { isWaitingDelete, type NoticeCode } from '../core/notice.ts'
import { filterInSteps, forEachInSteps, type Steps } from '../base/steps.ts'
import { type Baseline, stillEmptied, takeBaseline } from '../core/plan/baseline.ts'
import type { Options } from '../core/plan/configuration.ts'
import { deleteFingerprint, type Op, OPS } from '../core/plan/change.ts'
import type { Absences } from '../core/plan/grace.ts'
import type { Withheld } from '../core/plan/inputs.ts'
import type { Plan } from '../core/plan/changes.ts'
import type { ServerMemory } from '../core/plan/server.ts'
import { stillAsked } from '../core/plan/still-asked.ts'
import { absencesOf, addAbsences, forgetAbsences } from '../store/absences.ts'
import { findBaseline, storeBaseline, addEmptied } from '../store/baselines.ts'
import { type Decisions, decisionsOf } from '../store/decisions.ts'
import type { Fenced, FencedRun } from '../store/fenced-run.ts'
import { decisionsOver, type Unjudged } from '../store/forget-decisions.ts'
import { leftOutOf } from '../store/part-decisions.ts'
import {
  openWritesOf,
  quarantineUnconverged,
  settleWrites,
  type Unconverged,
  unconverged,
} from '../store/convergence.ts'
import { deletedLastDay } from '../store/journal.ts'
import { refusedInLastRun, unfinishedChanges } from '../store/plans.ts'
import { allQuarantined, forgetQuarantined, quarantined } from '../store/quarantine.ts'
import {
  storeServer,
  addWaitingGroups,
  type LastGood,
  lastGood,
  lastOptions,
  storeLastGood,
} from '../store/last-good.ts'
import type { RunRecord } from '../store/runs.ts'
import type { SyncTarget } from '../store/run-types.ts'
import type { Tables } from '../store/tables.ts'
import { inTurns } from '../base/turns.ts'
import type { Memory, Planned } from './run.ts'

type Db = Kysely<Tables>

/**
 * The reasons that block single changes of a plan: operators' decisions, answers of the service, and time.
 *
 * @param ids limits the reasons to these entries
 */
export async function recallReasons(
  db: Db,
  { sync, target }: SyncTarget,
  ids?: readonly string[],
): Promise<Pick<Memory, 'withheld' | 'refused' | 'approved' | 'absences' | 'now'>> {
  const decisions = await decisionsOf(db, { sync, target, isUndo: false })
  const refused = await quarantined(db, sync, target)
  const unmade = await unconverged(db, { sync, target }, ids)
  return {
    withheld: await inTurns(withheldFor(decisions, refused, unmade)),
    refused: await refusedInLastRun(db, { sync, target }, ids),
    approved: decisions.approved,
    absences: await absencesOf(db, { sync, target }),
    now: await timeOf(db),
  }
}

function* withheldFor(
  { rejected }: Decisions,
  refused: Awaited<ReturnType<typeof quarantined>>,
  unmade: readonly Unconverged[],
): Steps<ReadonlyMap<string, Withheld>> {
  const withheld = new Map<string, Withheld>()
  yield* forEachInSteps(rejected, ([print, params]) => withheld.set(print, { code: 'rejected', params }))
  yield* forEachInSteps(refused, ({ fingerprint, ...refusal }) => withheld.set(fingerprint, refusal))
  yield* forEachInSteps(unmade, ({ fingerprint, how }) =>
    withheld.set(fingerprint, { code: 'does-not-converge', params: { how } }),
  )
  return withheld
}

export async function recall(db: Db, { sync, target }: SyncTarget): Promise<Memory> {
  const good = await lastGood(db, sync, target)
  return {
    ...(await recallReasons(db, { sync, target })),
    lastGood: good,
    server: good?.server,
    lastOptions: await lastOptions(db, sync),
    deletedLastDay: await deletedLastDay(db, { sync, target }),
    leftOut: await leftOutOf(db, { sync, target }),
  }
}

/** Writes in a transaction what was computed before it. */
export type Write = (trx: Fenced) => Promise<void>

/**
 * What a complete run of the whole sync saves of what it read, for the next run to compare with. A read of a server
 * that was not as new as the last good one proves nothing, so only the doubt is saved. `isWhole`: nothing proved the
 * directory's list incomplete. On an incomplete list, users that left look deleted, and decisions about them look done.
 */
export async function memoryOfRun(
  db: Db,
  run: RunRecord,
  planned: Planned,
  { isWhole, options }: { readonly isWhole: boolean; readonly options: Options },
): Promise<Write> {
  const { source, plan, server } = planned
  if (server?.trouble !== undefined)
    return (trx) => storeServer(trx, run, additionsOf(planned) ?? server.next)
  if (!isWhole) return async () => undefined
  const unfinished = await unfinishedChanges(db, run.run)
  const left = await inTurns(stillThere(planned, unfinished))
  const waiting = await inTurns(awaitingDelete(plan, left))
  const good: LastGood = {
    // Blocked entries must not look as if the source had lost them before.
    users: source.seen.user.size + waiting.user.length,
    groups: source.seen.group.size + waiting.group.length,
    groupsWithMembers: source.lists?.withMembers,
    nesting: planned.nesting,
    memberLists: planned.memberLists,
    waitingGroups: new Set(planned.waitingGroups),
    server: server?.next,
  }
  const baselines = {
    user: await baselineOf(db, run, planned, 'user', left.user),
    group: await baselineOf(db, run, planned, 'group', left.group),
  }
  const open = [...plan.withheld, ...unfinished.map(({ fingerprint }) => fingerprint)]
  const forgetDecisions = await decisionsOver(db, run, {
    open,
    unjudged: () => inTurns(unjudgedIn(planned)),
    asked: (change) => stillAsked(change, planned),
  })
  const done = await without(await allQuarantined(db, run), open)
  return async (trx) => {
    await storeLastGood(trx, run, good, options)
    for (const kind of KINDS) {
      const baseline = baselines[kind]
      if (baseline !== undefined) await storeBaseline(trx, run, kind, baseline)
    }
    await forgetDecisions(trx)
    if (done.length > 0) await forgetQuarantined(trx, run, done)
  }
}

const KINDS = ['user', 'group'] as const

/** Those of a usually short list that are not in a long one. */
async function without(prints: readonly string[], others: Iterable<string>): Promise<readonly string[]> {
  if (prints.length === 0) return prints
  const left = new Set(prints)
  await inTurns(forEachInSteps(others, (print) => left.delete(print)))
  return [...left]
}

/** Notices of entries whose changes a run blocks or makes otherwise than the source wants. */
const UNJUDGED: ReadonlySet<NoticeCode> = new Set([
  'duplicate-id',
  'no-name',
  'value-failed',
  'unknown-members',
  'members-hidden',
  'disabled',
  'shared-id',
  'email-not-allowed',
  'email-dropped',
  'duplicate-email',
  'excluded',
  'protected',
  'in-grace',
  'unproved',
  'reborn',
  'members-kept',
  'seen-again',
  'kept-by-policy',
  'kept-unproved',
  'value-kept',
  'no-email',
])

/** A rejected change of these may be wanted again when the next run can judge it. */
function* unjudgedIn({ source, plan }: Planned): Steps<Unjudged> {
  if (source.unreadable > 0) return 'all'
  const ids = { user: new Set<string>(), group: new Set<string>() }
  yield* forEachInSteps(plan.notices, ({ kind, id, code }) => {
    if (id !== undefined && UNJUDGED.has(code)) ids[kind].add(id)
  })
  yield* forEachInSteps(source.seen.user, (id) => source.users.has(id) || ids.user.add(id))
  yield* forEachInSteps(source.seen.group, (id) => source.groups.has(id) || ids.group.add(id))
  return ids
}

/** Called before a run adds what only a doubtful server has: an interrupted run has added some of it. */
export async function rememberAdditions(db: Db, run: RunRecord, planned: Planned): Promise<void> {
  const server = additionsOf(planned)
  if (server !== undefined) await storeServer(db, run, server)
}

function additionsOf({ server, plan }: Planned): ServerMemory | undefined {
  return plan.changes.length === 0 ? undefined : server?.withAdditions
}

/** What is known, once a plan is made, of the effect of earlier writes. */
export async function memoryOfWrites(db: Db, run: RunRecord, planned: Planned): Promise<Write> {
  const { plan, server } = planned
  const isWhole = run.only_entries === null
  const open = isWhole && server?.trouble === undefined ? await openWritesOf(db, run) : new Set<string>()
  const wanted = open.size === 0 ? [] : await inTurns(within(open, missingChanges(planned)))
  const twice = plan.withheld.length === 0 ? [] : await unconverged(db, run)
  const prints = new Set(twice.map(({ fingerprint }) => fingerprint))
  const unmade = prints.size === 0 ? [] : await inTurns(within(prints, plan.withheld))
  return async (trx) => {
    if (open.size > 0) await settleWrites(trx, run, wanted)
    await quarantineUnconverged(trx, run, unmade)
  }
}

function* within(some: ReadonlySet<string>, others: Iterable<string>): Steps<readonly string[]> {
  const both = new Set<string>()
  yield* forEachInSteps(others, (print) => some.has(print) && both.add(print))
  return [...both]
}

/** The fingerprints of all differences between directory and source, whether or not the plan may change them. */
function* missingChanges({ plan, breaches, absent }: Planned): Generator<string, void> {
  for (const { fingerprint } of plan.changes.headsOf(...OF_ENTRIES_THERE)) yield fingerprint
  yield* plan.withheld
  for (const { changes } of breaches) yield* changes
  for (const kind of ['user', 'group'] as const)
    for (const id of absent[kind]) yield deleteFingerprint(kind, id)
}

const OF_ENTRIES_THERE = OPS.filter((op) => !op.startsWith('create-'))

/** An embedded store blocks the process for each statement. */
const ABSENCES_PER_STATEMENT = 1000

/**
 * Saves the absent entries at the end of a run: both reads were good, whatever became of the changes. In transactions of
 * their own, because there may be many.
 */
export async function saveAbsences(
  db: Db,
  fenced: FencedRun,
  run: RunRecord,
  planned: Planned,
): Promise<void> {
  const { plan, absent, server } = planned
  if (run.only_entries !== null || server?.trouble !== undefined) return
  const back = await inTurns(backIn(planned, await absencesOf(db, run)))
  const waiting = await inTurns(awaitingDelete(plan, absent))
  for (const kind of KINDS) {
    for (const ids of inParts(back[kind])) await fenced.write((trx) => forgetAbsences(trx, run, kind, ids))
    for (const ids of inParts(waiting[kind])) await fenced.write((trx) => addAbsences(trx, run, kind, ids))
  }
}

function* inParts(ids: readonly string[]): Generator<readonly string[], void> {
  for (let start = 0; start < ids.length; start += ABSENCES_PER_STATEMENT)
    yield ids.slice(start, start + ABSENCES_PER_STATEMENT)
}

/** The absent entries that the source has again. */
function* backIn({ source, plan }: Planned, known: Absences): Steps<Record<Kind, readonly string[]>> {
  const seenAgain = { user: new Set<string | undefined>(), group: new Set<string | undefined>() }
  yield* forEachInSteps(
    plan.notices,
    ({ code, kind, id }) => code === 'seen-again' && seenAgain[kind].add(id),
  )
  const idsOf = (kind: Kind) =>
    filterInSteps([...known[kind].keys()], (id) => source.seen[kind].has(id) || seenAgain[kind].has(id))
  return { user: yield* idsOf('user'), group: yield* idsOf('group') }
}

/** Saves what a full run read although a guard held its plan. */
export async function rememberHeldRun(db: Db, run: RunRecord, planned: Planned): Promise<void> {
  const { server } = planned
  if (run.only_entries !== null) return
  if (server?.meanwhile !== undefined) await storeServer(db, run, server.meanwhile)
}

/** Saves the open questions of a plan, whatever becomes of the run. */
export async function rememberDoubts(db: Db, run: RunRecord, planned: Planned): Promise<void> {
  const { server, emptied, waitingGroups } = planned
  if (run.only_entries !== null || server?.trouble !== undefined) return
  for (const kind of ['user', 'group'] as const) await addEmptied(db, run, kind, emptied[kind])
  await addWaitingGroups(db, run, waitingGroups)
}

function* stillThere(
  { plan, absent }: Planned,
  unfinished: readonly { readonly op: Op; readonly id: string }[],
): Steps<Record<Kind, readonly string[]>> {
  const left = new Set<string>()
  yield* forEachInSteps(unfinished, ({ op, id }) => left.add(`${op} ${id}`))
  const notDeleted = function* (kind: Kind): Steps<readonly string[]> {
    const deleted = new Set<string>()
    yield* forEachInSteps(
      plan.changes.headsOf(`delete-${kind}`),
      ({ id }) => left.has(`delete-${kind} ${id}`) || deleted.add(id),
    )
    return yield* filterInSteps(absent[kind], (id) => !deleted.has(id))
  }
  return { user: yield* notDeleted('user'), group: yield* notDeleted('group') }
}

/** The absent entries whose delete is due or waits; the others are kept for another reason. */
function* awaitingDelete(plan: Plan, absent: Planned['absent']): Steps<Record<Kind, readonly string[]>> {
  const waiting = { user: new Set<string | undefined>(), group: new Set<string | undefined>() }
  yield* forEachInSteps(plan.notices, (notice) => {
    if (isWaitingDelete(notice)) waiting[notice.kind].add(notice.id)
  })
  for (const kind of KINDS)
    yield* forEachInSteps(plan.changes.headsOf(`delete-${kind}`), ({ id }) => waiting[kind].add(id))
  return {
    user: yield* filterInSteps(absent.user, (id) => waiting.user.has(id)),
    group: yield* filterInSteps(absent.group, (id) => waiting.group.has(id)),
  }
}

async function baselineOf(
  db: Db,
  run: RunRecord,
  { source: { places }, plan, emptied }: Planned,
  kind: Kind,
  absent: readonly string[],
): Promise<Baseline | undefined> {
  if (places === undefined) return undefined
  const before = absent.length === 0 ? undefined : await findBaseline(db, run, kind)
  const still =
    before === undefined
      ? []
      : await inTurns(stillEmptied(before, await inTurns(undecided(plan, kind, absent))))
  const steps = takeBaseline((visit) => places[kind].each(visit), {
    absent,
    before,
    emptied: [...new Set([...emptied[kind], ...still])].toSorted(),
  })
  return inTurns(steps)
}

const DECIDED: ReadonlySet<NoticeCode> = new Set(['rejected', 'excluded', 'protected', 'kept-by-policy'])

/** The absent entries that neither an operator nor the configuration decided to keep. */
function* undecided({ notices }: Plan, kind: Kind, absent: readonly string[]): Steps<readonly string[]> {
  const kept = new Set<string | undefined>()
  yield* forEachInSteps(notices, (notice) => {
    if (notice.kind === kind && DECIDED.has(notice.code)) kept.add(notice.id)
  })
  return yield* filterInSteps(absent, (id) => !kept.has(id))
}

async function timeOf(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db)
  return rows[0]?.now ?? new Date()
}
