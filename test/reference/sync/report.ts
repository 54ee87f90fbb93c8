import type { Notice, NoticeCode } from '../directory/snapshot.ts'
import { type Op, OPS } from '../plan/change.ts'
import type { PlannedChanges } from '../plan/changes.ts'
import type { ChangeState, ReadEvidence, RunCounts } from '../store/run-types.ts'
import type { Planned } from './run.ts'

/** The numbers of a run's report; `outcomes` are empty until the plan is applied. */
export function countRun(planned: Planned, outcomes: Partial<Record<ChangeState, number>> = {}): RunCounts {
  const { source, directory, plan } = planned
  return {
    sourceUsers: source.seen.user.size,
    sourceGroups: source.seen.group.size,
    directoryUsers: directory.users.size,
    directoryGroups: directory.groups.size,
    unchanged: plan.unchanged,
    planned: plannedBy(plan.changes),
    outcomes,
    notices: noticesBy(plan.notices),
  }
}

/** What a run's report says of its reads, besides their numbers. */
export function evidenceIn({ source, directory, server, absent, plan }: Planned): ReadEvidence {
  return {
    server: server?.detail ?? null,
    unreadable: source.unreadable,
    absent: { user: absent.user.length, group: absent.group.length },
    seenAgain: plan.notices.filter(({ code }) => code === 'seen-again').length,
    directoryMoved: directory.moved,
  }
}

function plannedBy(changes: PlannedChanges): Partial<Record<Op, number>> {
  const used = OPS.filter((op) => changes.countOf(op) > 0)
  return Object.fromEntries(used.map((op) => [op, changes.countOf(op)]))
}

function noticesBy(notices: readonly Notice[]): Partial<Record<NoticeCode, number>> {
  const counts: Partial<Record<NoticeCode, number>> = {}
  for (const { code } of notices) counts[code] = (counts[code] ?? 0) + 1
  return counts
}
