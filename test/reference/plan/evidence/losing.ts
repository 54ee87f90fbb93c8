import type { NoticeCode } from '../../directory/snapshot.ts'
import { amount } from '../../directory/wording.ts'
import type { SetMembers } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan, PlannedChange } from '../changes.ts'
import { mayDelete } from '../policy.ts'
import type { Finding, Held } from './finding.ts'

/** A group with fewer members than these may well lose them all at once. */
export const MIN_EMPTIED = 5

/** A change that takes members out of a group. */
export type Losing = PlannedChange & { readonly change: SetMembers }

/** What is said of a group whose losses are not decided, whatever the read shows of it. */
const UNDECIDED: ReadonlySet<NoticeCode> = new Set([
  'members-kept',
  'excluded',
  'rejected',
  'quarantined',
  'does-not-converge',
])

/** Holds the losses of some groups, and the delete of one that is absent if the plan has it. */
export function losingFinding(
  guard: string,
  detail: string,
  losing: readonly Losing[],
  [absent, deletes]: readonly [id: string, deletes: ReadonlyMap<string, string>] = ['', new Map()],
): Finding {
  // The detail is said once, with the finding.
  const notice = `a person is to decide on it (${guard})`
  const members: Held = {
    kind: 'group',
    ids: losing.map(({ change }) => change.id),
    what: 'members',
    notice,
  }
  const print = deletes.get(absent)
  return {
    guard,
    detail,
    changes: [...losing.map(({ fingerprint }) => fingerprint), ...(print === undefined ? [] : [print])],
    waitsFor: 'person',
    holds: [
      members,
      ...(print === undefined ? [] : [{ kind: 'group', ids: [absent], what: 'delete', notice } as const]),
    ],
  }
}

/** What some groups lose together: somebody may be in several of them. */
export function lostText(losing: readonly Losing[], lost: number): string {
  return amount(lost, losing.length === 1 ? 'member' : 'membership')
}

/** The ids of the groups whose losses the plan does not decide: others also have groups that are not written at all. */
export function undecidedGroups({ source }: PlanInputs, { notices }: Plan): ReadonlySet<string | undefined> {
  const undecided = notices.filter(({ kind, code }) => kind === 'group' && UNDECIDED.has(code))
  const unwritten = [...source.seen.group].filter((id) => !source.groups.has(id))
  return new Set([...undecided.map(({ id }) => id), ...unwritten])
}

/** Whether a run takes nobody out of any group, so that it leaves open what they lose. */
export function decidesNoLoss({ source, waits, rules }: PlanInputs): boolean {
  const isUnproved = source.unreadable > 0 || waits?.allButNew !== undefined
  return isUnproved || !source.covers.members || rules.membership !== 'write' || !mayDelete(rules.policy)
}

/** Whether the source does not have a group that the directory has after the plan. */
export function absentAfter({ source, directory }: PlanInputs, { changes }: Plan): (id: string) => boolean {
  const deleted = changes.idsOf('delete-group')
  return (id) => directory.groups.has(id) && !source.seen.group.has(id) && !deleted.has(id)
}
