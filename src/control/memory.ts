import { type Kysely, sql } from 'kysely'
import type { Kind } from '../directory/entry.ts'
import { type Baseline, containerOf, takeBaseline } from '../plan/baseline.ts'
import { type Grace, hasGrace } from '../plan/grace.ts'
import type { Withheld } from '../plan/inputs.ts'
import { absencesOf, keepAbsences } from '../store/absences.ts'
import { findBaseline, keepBaseline } from '../store/baselines.ts'
import { decisionsOf, keepDecisions } from '../store/decisions.ts'
import { deletedLastDay, unconverged } from '../store/journal.ts'
import { unfinishedChanges } from '../store/plans.ts'
import { keepQuarantined, quarantined } from '../store/quarantine.ts'
import { lastGood, rememberGood, type RunRecord } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { Memory, Planned } from '../sync/run.ts'

type Db = Kysely<Tables>

/** What a run of this sync on this target needs to know of earlier ones. */
export async function recall(db: Db, { sync, target }: Pick<RunRecord, 'sync' | 'target'>): Promise<Memory> {
  const withheld = new Map<string, Withheld>()
  const decisions = await decisionsOf(db, sync, target)
  for (const [fingerprint, detail] of decisions.rejected)
    withheld.set(fingerprint, { code: 'rejected', detail })
  for (const { fingerprint, detail } of await quarantined(db, sync, target)) {
    withheld.set(fingerprint, { code: 'quarantined', detail })
  }
  for (const fingerprint of await unconverged(db, sync, target)) {
    const detail =
      'was written twice and the directory still shows another value; not written again for a day'
    withheld.set(fingerprint, { code: 'does-not-converge', detail })
  }
  return {
    withheld,
    approved: decisions.approved,
    lastGood: await lastGood(db, sync, target),
    deletedLastDay: await deletedLastDay(db, sync, target),
    absences: await absencesOf(db, { sync, target }),
    now: await timeOf(db),
  }
}

/** Keeps what a completed run of the whole sync read, as what the next one is compared with. */
export async function rememberRun(db: Db, run: RunRecord, planned: Planned, grace: Grace): Promise<void> {
  const { source, plan } = planned
  const unfinished = await unfinishedChanges(db, run.run)
  const open = [...plan.withheld, ...unfinished.map(({ fingerprint }) => fingerprint)]
  const left = stillThere(planned, new Set(unfinished.map(({ op, id }) => `${op} ${id}`)))
  await rememberGood(db, run, {
    users: source.seen.user.size + waitingDeletes(planned, 'user'),
    groups: source.seen.group.size + waitingDeletes(planned, 'group'),
    groupsWithMembers: source.groupsWithMembers,
  })
  for (const kind of ['user', 'group'] as const) await rememberPlaces(db, run, planned, kind, left[kind])
  await rememberAbsences(db, run, left, grace)
  await keepDecisions(db, run.sync, run.target, open)
  await keepQuarantined(db, run.sync, run.target, open)
}

/** Counts a good read for the entries that are absent and were not deleted. */
export async function rememberAbsences(
  db: Db,
  run: RunRecord,
  absent: Planned['absent'],
  grace: Grace,
): Promise<void> {
  if (run.only_entries !== null) return
  await keepAbsences(db, run, hasGrace(grace) ? absent : { user: [], group: [] })
}

/** The absent entries that this run did not delete. */
function stillThere(
  { plan, absent }: Planned,
  unfinished: ReadonlySet<string>,
): Record<Kind, readonly string[]> {
  const deleted = { user: new Set<string>(), group: new Set<string>() }
  for (const { change } of plan.changes) {
    if (change.op !== 'delete-user' && change.op !== 'delete-group') continue
    if (!unfinished.has(`${change.op} ${change.id}`))
      deleted[change.op === 'delete-user' ? 'user' : 'group'].add(change.id)
  }
  return {
    user: absent.user.filter((id) => !deleted.user.has(id)),
    group: absent.group.filter((id) => !deleted.group.has(id)),
  }
}

/** What waits must not look as if the source had lost it before. */
function waitingDeletes({ plan, absent }: Planned, kind: Kind): number {
  const waiting = new Set<string | undefined>()
  for (const { code, kind: of, id } of plan.notices)
    if (of === kind && (code === 'unproved' || code === 'in-grace')) waiting.add(id)
  return absent[kind].filter((id) => waiting.has(id)).length
}

/** An entry that is absent and not deleted keeps its place, so that a container does not look smaller than it was. */
async function rememberPlaces(
  db: Db,
  run: RunRecord,
  { source: { eachPlace } }: Planned,
  kind: Kind,
  absent: readonly string[],
): Promise<void> {
  if (eachPlace === undefined) return
  const before: Baseline | undefined = absent.length === 0 ? undefined : await findBaseline(db, run, kind)
  const baseline = takeBaseline(
    (visit) => eachPlace(kind, visit),
    (visit) => {
      if (before === undefined) return
      for (const id of absent) {
        const container = containerOf(before, id)
        if (container !== undefined) visit(id, container)
      }
    },
  )
  await keepBaseline(db, run, kind, baseline)
}

async function timeOf(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db)
  return rows[0]?.now ?? new Date()
}
