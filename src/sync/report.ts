import type { NoticeCode } from '../core/notice.ts'
import type { Notice } from '../core/notice.ts'
import { type Op, OPS } from '../core/plan/change.ts'
import type { PlannedChanges } from '../core/plan/changes.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import type { ReadEvidence, RunCounts } from '../store/run-types.ts'
import type { Planned } from './run.ts'

/** Without outcomes, until the plan is applied. */
export function* countRun({ source, directory, plan }: Planned): Steps<RunCounts> {
  return {
    sourceUsers: source.seen.user.size,
    sourceGroups: source.seen.group.size,
    directoryUsers: directory.users.size,
    directoryGroups: directory.groups.size,
    unchanged: plan.unchanged,
    planned: plannedBy(plan.changes),
    outcomes: {},
    notices: yield* noticesBy(plan.notices),
  }
}

/** The counts at the end of a run, with the notices of applying it. */
export function countsAtEnd(
  counts: RunCounts,
  applying: readonly Notice[],
  outcomes: RunCounts['outcomes'],
): RunCounts {
  const notices = { ...counts.notices }
  for (const { code } of applying) notices[code] = (notices[code] ?? 0) + 1
  return { ...counts, notices, outcomes }
}

export function evidenceIn(
  { source, directory, server, absent }: Planned,
  { notices }: RunCounts,
): ReadEvidence {
  return {
    server: server?.state ?? null,
    unreadable: source.unreadable,
    absent: { user: absent.user.length, group: absent.group.length },
    seenAgain: notices['seen-again'] ?? 0,
    directoryMoved: directory.moved,
  }
}

function plannedBy(changes: PlannedChanges): Partial<Record<Op, number>> {
  const used = OPS.filter((op) => changes.countOf(op) > 0)
  return Object.fromEntries(used.map((op) => [op, changes.countOf(op)]))
}

function* noticesBy(notices: readonly Notice[]): Steps<Partial<Record<NoticeCode, number>>> {
  const counts: Partial<Record<NoticeCode, number>> = {}
  yield* forEachInSteps(notices, ({ code }) => (counts[code] = (counts[code] ?? 0) + 1))
  return counts
}
