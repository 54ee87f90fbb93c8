import { type Kysely, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import type { NoticeCode } from '../core/notice.ts'
import { stillEmptied, takeBaseline } from '../core/plan/baseline.ts'
import type { Options } from '../core/plan/configuration.ts'
import { deleteFingerprint, type Op, OPS } from '../core/plan/change.ts'
import type { Withheld } from '../core/plan/inputs.ts'
import type { Plan } from '../core/plan/changes.ts'
import type { ServerMemory } from '../core/plan/server.ts'
import { stillAsked } from '../core/plan/still-asked.ts'
import { absencesOf, countAbsences } from '../store/absences.ts'
import { findBaseline, storeBaseline, addEmptied } from '../store/baselines.ts'
import { decisionsOf } from '../store/decisions.ts'
import { forgetOtherDecisions, type Unjudged } from '../store/forget-decisions.ts'
import { leftOutOf } from '../store/part-decisions.ts'
import { noteMissedCreates, quarantineUnconverged, settleWrites, unconverged } from '../store/convergence.ts'
import { deletedLastDay } from '../store/journal.ts'
import { refusedInLastRun, unfinishedChanges } from '../store/plans.ts'
import { forgetOtherQuarantined, quarantined } from '../store/quarantine.ts'
import {
  directoryAfterLastGood,
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
  const withheld = new Map<string, Withheld>()
  const decisions = await decisionsOf(db, { sync, target, isUndo: false })
  for (const [fingerprint, params] of decisions.rejected)
    withheld.set(fingerprint, { code: 'rejected', params })
  for (const { fingerprint, ...refusal } of await quarantined(db, sync, target))
    withheld.set(fingerprint, refusal)
  for (const { fingerprint, how } of await unconverged(db, { sync, target }, ids))
    withheld.set(fingerprint, { code: 'does-not-converge', params: { how } })
  return {
    withheld,
    refused: await refusedInLastRun(db, { sync, target }, ids),
    approved: decisions.approved,
    absences: await absencesOf(db, { sync, target }),
    now: await timeOf(db),
  }
}

export async function recall(db: Db, { sync, target }: SyncTarget): Promise<Memory> {
  const good = await lastGood(db, sync, target)
  return {
    ...(await recallReasons(db, { sync, target })),
    lastGood: good,
    directoryBefore: await directoryAfterLastGood(db, { sync, target }),
    server: good?.server,
    lastOptions: await lastOptions(db, sync),
    deletedLastDay: await deletedLastDay(db, { sync, target }),
    leftOut: await leftOutOf(db, { sync, target }),
  }
}

/**
 * Saves what a complete run of the whole sync read, for the next run to compare with. A read of a server that was not
 * as new as the last good one proves nothing, so only the doubt is saved. `isWhole`: nothing proved the directory's
 * list incomplete. On an incomplete list, users that left look deleted, and decisions about them look done.
 */
export async function rememberRun(
  db: Db,
  run: RunRecord,
  planned: Planned,
  { isWhole, options }: { readonly isWhole: boolean; readonly options: Options },
): Promise<void> {
  const { source, plan, server } = planned
  if (server?.trouble !== undefined) return storeServer(db, run, additionsOf(planned) ?? server.next)
  if (!isWhole) return
  const unfinished = await unfinishedChanges(db, run.run)
  const open = [...plan.withheld, ...unfinished.map(({ fingerprint }) => fingerprint)]
  const left = stillThere(planned, unfinished)
  const waiting = awaitingDelete(plan, left)
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
  await storeLastGood(db, run, good, options)
  for (const kind of ['user', 'group'] as const) await rememberPlaces(db, run, planned, kind, left[kind])
  await forgetOtherDecisions(
    db,
    run,
    open,
    () => unjudgedIn(planned),
    (change) => stillAsked(change, planned),
  )
  await forgetOtherQuarantined(db, run.sync, run.target, open)
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
function unjudgedIn({ source, plan }: Planned): Unjudged {
  if (source.unreadable > 0) return 'all'
  const ids = { user: new Set<string>(), group: new Set<string>() }
  for (const { kind, id, code } of plan.notices) if (id !== undefined && UNJUDGED.has(code)) ids[kind].add(id)
  for (const id of source.seen.user) if (!source.users.has(id)) ids.user.add(id)
  for (const id of source.seen.group) if (!source.groups.has(id)) ids.group.add(id)
  return { user: [...ids.user], group: [...ids.group] }
}

/** Called before a run adds what only a doubtful server has: an interrupted run has added some of it. */
export async function rememberAdditions(db: Db, run: RunRecord, planned: Planned): Promise<void> {
  const server = additionsOf(planned)
  if (server !== undefined) await storeServer(db, run, server)
}

function additionsOf({ server, plan }: Planned): ServerMemory | undefined {
  return plan.changes.length === 0 ? undefined : server?.withAdditions
}

/** Saves which earlier writes had no effect, once a plan is made. */
export async function rememberWrites(db: Db, run: RunRecord, planned: Planned): Promise<void> {
  const { plan, server, isHeld } = planned
  if (run.only_entries === null && server?.trouble === undefined)
    await settleWrites(db, run, missingChanges(planned))
  await quarantineUnconverged(db, run, plan.withheld)
  if (run.only_entries === null && !isHeld && CREATES.some((op) => plan.changes.countOf(op) > 0))
    await noteMissedCreates(db, run)
}

/** The fingerprints of all differences between directory and source, whether or not the plan may change them. */
function* missingChanges({ plan, breaches, absent }: Planned): Generator<string, undefined> {
  for (const { fingerprint } of plan.changes.headsOf(...OF_ENTRIES_THERE)) yield fingerprint
  yield* plan.withheld
  for (const { changes } of breaches) yield* changes
  for (const kind of ['user', 'group'] as const)
    for (const id of absent[kind]) yield deleteFingerprint(kind, id)
  return undefined
}

const CREATES = OPS.filter((op) => op.startsWith('create-'))
const OF_ENTRIES_THERE = OPS.filter((op) => !op.startsWith('create-'))

/** Saves the absent entries at the end of a run: both reads were good, whatever became of the changes. */
export async function rememberAbsences(db: Db, run: RunRecord, planned: Planned): Promise<void> {
  const { source, plan, absent, server } = planned
  if (run.only_entries !== null || server?.trouble !== undefined) return
  const seenAgain = { user: new Set<string | undefined>(), group: new Set<string | undefined>() }
  for (const { code, kind, id } of plan.notices) if (code === 'seen-again') seenAgain[kind].add(id)
  const isBack = (kind: Kind, id: string) => source.seen[kind].has(id) || seenAgain[kind].has(id)
  await countAbsences(db, run, awaitingDelete(plan, absent), isBack)
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

function stillThere(
  { plan, absent }: Planned,
  unfinished: readonly { readonly op: Op; readonly id: string }[],
): Record<Kind, readonly string[]> {
  const left = new Set(unfinished.map(({ op, id }) => `${op} ${id}`))
  const notDeleted = (kind: Kind): readonly string[] => {
    const planned = plan.changes.idsOf(`delete-${kind}`)
    return absent[kind].filter((id) => left.has(`delete-${kind} ${id}`) || !planned.has(id))
  }
  return { user: notDeleted('user'), group: notDeleted('group') }
}

/** The absent entries whose delete is due or waits; the others are kept for another reason. */
function awaitingDelete(plan: Plan, absent: Planned['absent']): Record<Kind, readonly string[]> {
  const waiting = { user: new Set<string | undefined>(), group: new Set<string | undefined>() }
  for (const { code, kind, id } of plan.notices)
    if (code === 'unproved' || code === 'in-grace') waiting[kind].add(id)
  for (const { id } of plan.changes.headsOf('delete-user')) waiting.user.add(id)
  for (const { id } of plan.changes.headsOf('delete-group')) waiting.group.add(id)
  return {
    user: absent.user.filter((id) => waiting.user.has(id)),
    group: absent.group.filter((id) => waiting.group.has(id)),
  }
}

async function rememberPlaces(
  db: Db,
  run: RunRecord,
  { source: { places }, plan, emptied }: Planned,
  kind: Kind,
  absent: readonly string[],
): Promise<void> {
  if (places === undefined) return
  const before = absent.length === 0 ? undefined : await findBaseline(db, run, kind)
  const still = before === undefined ? [] : stillEmptied(before, undecided(plan, kind, absent))
  const steps = takeBaseline((visit) => places[kind].each(visit), {
    absent,
    before,
    emptied: [...new Set([...emptied[kind], ...still])].toSorted(),
  })
  const baseline = await inTurns(steps)
  await storeBaseline(db, run, kind, baseline)
}

const DECIDED: ReadonlySet<NoticeCode> = new Set(['rejected', 'excluded', 'protected', 'kept-by-policy'])

/** The absent entries that neither an operator nor the configuration decided to keep. */
function undecided({ notices }: Plan, kind: Kind, absent: readonly string[]): readonly string[] {
  const kept = new Set(
    notices.filter((notice) => notice.kind === kind && DECIDED.has(notice.code)).map(({ id }) => id),
  )
  return absent.filter((id) => !kept.has(id))
}

async function timeOf(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db)
  return rows[0]?.now ?? new Date()
}
