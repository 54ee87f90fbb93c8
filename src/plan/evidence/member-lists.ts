import { sortedUnique } from '../../directory/normalize.ts'
import type { SourceSnapshot } from '../../directory/snapshot.ts'
import { examples } from '../../directory/wording.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../plan.ts'
import { mayDelete } from '../policy.ts'
import type { Evidence, Finding, MemberLists } from './finding.ts'
import {
  absentAfter,
  type Losing,
  losingFinding,
  lostText,
  MIN_EMPTIED,
  provesNothing,
  undecidedGroups,
} from './losing.ts'

/** A list of members that was shown in the last good run, and is not any more. */
interface SilentList {
  readonly dn: string
  readonly attribute: string
  /** The changes that may be only for lack of it. */
  readonly losers: Losing[]
}

/**
 * Groups that list nobody any more in one of several attributes, while another one still shows members: so a list looks
 * that the reader may not see any more. It holds all groups that have its members. Small losses count where no group at
 * all shows the attribute any more.
 */
export function silentLists(
  { source: { memberLists: now, listsWithin } }: PlanInputs,
  losing: readonly Losing[],
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
): Finding[] {
  if (now === undefined || listsWithin === undefined || before.size === 0) return []
  const known = new Set([...now.values()].flat().map(nameOf))
  const isGone = (attribute: string) => !known.has(nameOf(attribute))
  const silent = new Map<string, SilentList>()
  for (const planned of losing) {
    for (const { key, dn } of listsWithin(planned.change.id)) {
      const shown = now.get(key)?.map(nameOf)
      const missing = (before.get(key) ?? []).filter((name) => shown?.includes(nameOf(name)) === false)
      const attribute = missing.find(isGone) ?? missing[0]
      if (attribute === undefined) continue
      const list = silent.get(key) ?? { dn, attribute, losers: [] }
      list.losers.push(planned)
      silent.set(key, list)
    }
  }
  return [...silent.values()].flatMap((list) => {
    const isGoneEverywhere = isGone(list.attribute)
    const isLarge = list.losers.some(({ removes }) => removes >= MIN_EMPTIED)
    return isGoneEverywhere || isLarge ? [silentFinding(list, isGoneEverywhere)] : []
  })
}

function silentFinding({ dn, attribute, losers }: SilentList, isGoneEverywhere: boolean): Finding {
  const lost = losers.reduce((sum, { removes }) => sum + removes, 0)
  const where = isGoneEverywhere ? ', as no group does any more' : ''
  const detail =
    `${examples(losers.map(({ change }) => change.name))} would lose ${lostText(losers, lost)}: "${dn}" listed members ` +
    `in ${attribute} in the last good run, and lists none there now${where}; perhaps the reader may not see them any more`
  return losingFinding('group-emptied', detail, losers)
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
  for (const id of groups.keys()) {
    for (const { key } of listsWithin?.(id) ?? []) {
      const others = around.get(key)
      if (others === undefined) around.set(key, [id])
      else others.push(id)
    }
  }
  return around
}
