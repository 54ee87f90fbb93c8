import type { NoticeCode } from '../../entries/snapshot.ts'
import { amount } from '../../../base/wording.ts'
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
  guard: string,
  detail: string,
  losing: readonly Losing[],
  [absent, deletes]: readonly [id: string, deletes: ReadonlyMap<string, string>] = ['', new Map()],
): Finding {
  // The finding has the detail once.
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

/** What several groups lose together: a user may be in several of them. */
export function lostText(losing: readonly Losing[], lost: number): string {
  return amount(lost, losing.length === 1 ? 'member' : 'membership')
}

/** The groups whose removals the plan does not decide, including groups that it does not write at all. */
export function undecidedGroups({ source }: PlanInputs, { notices }: Plan): ReadonlySet<string | undefined> {
  const undecided = notices.filter(({ kind, code }) => kind === 'group' && UNDECIDED.has(code))
  const unwritten = [...source.seen.group].filter((id) => !source.groups.has(id))
  return new Set([...undecided.map(({ id }) => id), ...unwritten])
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
