import type { Notice, NoticeCode } from '../directory/snapshot.ts'
import type { Op } from '../plan/change.ts'
import type { PlannedChange } from '../plan/plan.ts'
import type { ChangeState, RunCounts } from '../store/run-types.ts'
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
    planned: countBy(plan.changes, operationOf),
    outcomes,
    notices: countBy(plan.notices, codeOf),
  }
}

function operationOf(planned: PlannedChange): Op {
  return planned.change.op
}

function codeOf(notice: Notice): NoticeCode {
  return notice.code
}

function countBy<T, K extends string>(items: readonly T[], key: (item: T) => K): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {}
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1
  return counts
}
