import type { Fact } from '../../facts.ts'
import type { BlockParams, Removals } from '../../block.ts'
import { examplesOf, type NoticeCode } from '../../notice.ts'
import { forEachInSteps, type Steps } from '../../../base/steps.ts'
import type { SetMembers } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan, PlannedChange } from '../changes.ts'
import { mayDelete } from '../policy.ts'
import type { Finding, Held } from './finding.ts'

/** A smaller group may well lose all its members at once. */
export const MIN_EMPTIED = 5

export type Losing = PlannedChange & { readonly change: SetMembers }

/** Notices of a group whose removals are undecided, whatever the read shows. */
const UNDECIDED: ReadonlySet<NoticeCode> = new Set([
  'members-kept',
  'excluded',
  'rejected',
  'quarantined',
  'does-not-converge',
])

/** Blocks the removals of some groups, and the planned delete of an absent one. */
export function losingFinding(
  reason: Fact<Pick<BlockParams, 'members-gone' | 'group-emptied' | 'nested-group-absent'>>,
  losing: readonly Losing[],
  [absent, deletes]: readonly [id: string, deletes: ReadonlyMap<string, string>] = ['', new Map()],
): Finding {
  const wait = { code: 'needs-approval', params: { block: reason.code } } as const
  const members: Held = {
    kind: 'group',
    ids: losing.map(({ change }) => change.id),
    what: 'members',
    wait,
  }
  const print = deletes.get(absent)
  return {
    ...reason,
    changes: [...losing.map(({ fingerprint }) => fingerprint), ...(print === undefined ? [] : [print])],
    waitsFor: 'person',
    holds: [
      members,
      ...(print === undefined ? [] : [{ kind: 'group', ids: [absent], what: 'delete', wait } as const]),
    ],
  }
}

export function removalsOf(losing: readonly Losing[], removals: number): Removals {
  return { removals, groups: examplesOf(losing.map(({ change }) => change.name)) }
}

/** These groups and all others whose removals the plan does not decide, also those that it does not write at all. */
export function* undecidedGroups(
  { source }: PlanInputs,
  { notices }: Plan,
  waiting: readonly string[] = [],
): Steps<ReadonlySet<string | undefined>> {
  const undecided = new Set<string | undefined>()
  yield* forEachInSteps(waiting, (id) => undecided.add(id))
  yield* forEachInSteps(notices, ({ kind, code, id }) => {
    if (kind === 'group' && UNDECIDED.has(code)) undecided.add(id)
  })
  yield* forEachInSteps(source.seen.group, (id) => {
    if (!source.groups.has(id)) undecided.add(id)
  })
  return undecided
}

/** Whether a run removes no member from any group, so that removals stay undecided. */
export function decidesNoLoss({ source, waits, rules }: PlanInputs): boolean {
  const isUnproved = source.unreadable > 0 || waits?.allButNew !== undefined
  return isUnproved || !source.covers.members || rules.membership !== 'write' || !mayDelete(rules.policy)
}

export function absentAfter({ source, directory }: PlanInputs, { changes }: Plan): (id: string) => boolean {
  const deleted = changes.idsOf('delete-group')
  return (id) => directory.groups.has(id) && !source.seen.group.has(id) && !deleted.has(id)
}
