import { sortedUnique } from '../../directory/normalize.ts'
import type { SourceSnapshot } from '../../directory/snapshot.ts'
import { digits } from '../../directory/wording.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../plan.ts'
import { mayDelete } from '../policy.ts'
import type { Evidence, Finding, MemberLists } from './finding.ts'
import {
  absentAfter,
  type Losing,
  losingFinding,
  MIN_EMPTIED,
  provesNothing,
  undecidedGroups,
} from './losing.ts'

/**
 * Groups that list nobody any more in one of several attributes, while another one still shows members: so a list looks
 * that the reader may not see any more. Small losses count where no group at all shows the attribute any more.
 */
export function silentLists(
  { source }: PlanInputs,
  losing: readonly Losing[],
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
): Finding[] {
  const { memberLists: now, listsWithin } = source
  if (now === undefined || listsWithin === undefined || before.size === 0) return []
  const known = new Set([...now.values()].flat().map(nameOf))
  const isGone = (attribute: string) => !known.has(nameOf(attribute))
  return losing.flatMap((planned) => {
    const { change, removes } = planned
    for (const { key, dn } of listsWithin(change.id)) {
      const shown = now.get(key)?.map(nameOf)
      const silent = (before.get(key) ?? []).filter((name) => shown?.includes(nameOf(name)) === false)
      const [attribute] = removes < MIN_EMPTIED ? silent.filter(isGone) : silent
      if (attribute === undefined) continue
      const where = isGone(attribute) ? `, as no group does any more` : ''
      const detail =
        `group "${change.name}" would lose ${digits(removes)}: "${dn}" listed members in ${attribute} in the last good ` +
        `run, and lists none there now${where}; perhaps the reader may not see them any more`
      return [losingFinding('group-emptied', detail, [planned])]
    }
    return []
  })
}

/**
 * What the next run is to know. What a group listed before stays known until it is decided what the group loses, and as
 * long as a group is absent that the directory still has.
 */
export function memberListsAfter(
  inputs: PlanInputs,
  plan: Plan,
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
  waitingGroups: readonly string[],
): MemberLists {
  const { source, rules } = inputs
  const { memberLists: now } = source
  if (now === undefined) return new Map()
  const open = new Set<string | undefined>([...waitingGroups, ...undecidedGroups(plan), ...different(plan)])
  const isNothingRemoved = provesNothing(inputs) || !mayDelete(rules.policy)
  const isAbsent = absentAfter(inputs, plan)
  const around = groupsAround(source)
  const kept = [...before].filter(
    ([key]) => isNothingRemoved || isAbsent(key) || (around.get(key) ?? []).some((id) => open.has(id)),
  )
  const after = new Map(now)
  for (const [key, attributes] of kept) after.set(key, sortedUnique([...attributes, ...(now.get(key) ?? [])]))
  return after
}

/** Names of attributes are compared without case. */
function nameOf(attribute: string): string {
  return attribute.toLowerCase()
}

/** Groups whose members are only reported. */
function different({ notices }: Plan): readonly (string | undefined)[] {
  return notices.filter(({ code }) => code === 'membership-differs').map(({ id }) => id)
}

/** For each group with a list, the ids of the groups that have its members. */
function groupsAround({ groups, listsWithin }: SourceSnapshot): ReadonlyMap<string, readonly string[]> {
  const around = new Map<string, string[]>()
  for (const id of groups.keys())
    for (const { key } of listsWithin?.(id) ?? []) around.set(key, [...(around.get(key) ?? []), id])
  return around
}
