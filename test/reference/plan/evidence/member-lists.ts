import { byName } from '../../directory/by-name.ts'
import { sortedUnique } from '../../directory/normalize.ts'
import type { SourceSnapshot } from '../../directory/snapshot.ts'
import { examples } from '../../directory/wording.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../changes.ts'
import type { Evidence, Finding, MemberLists } from './finding.ts'
import {
  absentAfter,
  decidesNoLoss,
  type Losing,
  losingFinding,
  lostText,
  MIN_EMPTIED,
  undecidedGroups,
} from './losing.ts'

/** The lists of members that a group showed in the last good run, and does not any more. */
interface SilentLists {
  readonly dn: string
  readonly attributes: readonly string[]
  /** Why they may be silent although nobody left. */
  readonly why: 'not-asked-for' | 'not-shown' | 'not-shown-by-any-group'
  /** The changes that may be only for lack of them. */
  readonly losers: Losing[]
}

/**
 * Groups that list nobody any more in one of several attributes, while another one still shows members: so a list looks
 * that the reader may not see any more, and one that the configuration does not name any more. It holds all groups that
 * have its members. Small losses count where no group at all shows the attribute any more.
 */
export function silentLists(
  { source }: PlanInputs,
  losing: readonly Losing[],
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
): Finding[] {
  const { listsWithin } = source
  if (listsWithin === undefined || before.size === 0) return []
  const look = createLook(source)
  const silent = new Map<string, SilentLists>()
  for (const planned of losing) {
    for (const { key, dn } of listsWithin(planned.change.id)) {
      const found = silent.get(key) ?? look(key, dn, before.get(key) ?? [])
      if (found === undefined) continue
      found.losers.push(planned)
      silent.set(key, found)
    }
  }
  return [...silent.values()].flatMap((lists) => {
    const isLarge = lists.losers.some(({ removes }) => removes >= MIN_EMPTIED)
    return lists.why !== 'not-shown' || isLarge ? [silentFinding(lists)] : []
  })
}

/** Finds which of the attributes that a group had are silent now, those first that tell the most. */
function createLook({ memberAttributes = [], memberLists: now }: SourceSnapshot) {
  const asked = new Set(memberAttributes.map(nameOf))
  const shownByAny = new Set([...(now?.values() ?? [])].flat().map(nameOf))
  return (key: string, dn: string, before: readonly string[]): SilentLists | undefined => {
    const shown = now?.get(key)?.map(nameOf)
    const of = (why: SilentLists['why'], isSilent: (name: string) => boolean): SilentLists | undefined => {
      const attributes = before.filter((name) => isSilent(nameOf(name)))
      return attributes.length === 0 ? undefined : { dn, attributes, why, losers: [] }
    }
    const notAskedFor = of('not-asked-for', (name) => !asked.has(name))
    if (notAskedFor !== undefined || shown === undefined) return notAskedFor
    return (
      of('not-shown-by-any-group', (name) => !shownByAny.has(name)) ??
      of('not-shown', (name) => !shown.includes(name))
    )
  }
}

/** Says of a group that is empty now, if the configuration does not look any more where it listed members. */
export function createConfigurationLook(
  { source }: PlanInputs,
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
): (group: string) => string | undefined {
  const look = createLook(source)
  return (group) => {
    const found = look(group, '', before.get(group) ?? [])
    if (found?.why !== 'not-asked-for') return undefined
    return `it listed some in ${found.attributes.join(' and ')}, ${WHY_SILENT[found.why]}`
  }
}

const WHY_SILENT: Readonly<Record<SilentLists['why'], string>> = {
  'not-asked-for': 'where groups.map.members of the sync does not look any more',
  'not-shown': 'and lists none there now; perhaps the reader may not see them any more',
  'not-shown-by-any-group':
    'and lists none there now, as no group does any more; perhaps the reader may not see them any more',
}

function silentFinding({ dn, attributes, why, losers }: SilentLists): Finding {
  const lost = losers.reduce((sum, { removes }) => sum + removes, 0)
  const detail =
    `${examples(losers.map(({ change }) => change.name))} would lose ${lostText(losers, lost)}: "${dn}" listed members ` +
    `in ${attributes.join(' and ')} in the last good run, ${WHY_SILENT[why]}`
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
  const { source } = inputs
  const { memberLists: now = new Map<string, readonly string[]>() } = source
  if (before.size === 0) return now
  const open = new Set([...waitingGroups, ...undecidedGroups(inputs, plan)])
  const isNothingDecided = decidesNoLoss(inputs)
  const isAbsent = absentAfter(inputs, plan)
  /** For each group with a list, the ids of the groups that have its members. */
  const around = byName(source.seen.group, (id) => (source.listsWithin?.(id) ?? []).map(({ key }) => key))
  const kept = [...before].filter(
    ([key]) => isNothingDecided || isAbsent(key) || (around.get(key) ?? []).some((id) => open.has(id)),
  )
  const after = new Map(now)
  for (const [key, attributes] of kept) {
    const shown = now.get(key) ?? []
    const names = new Set(shown.map(nameOf))
    after.set(key, sortedUnique([...attributes.filter((name) => !names.has(nameOf(name))), ...shown]))
  }
  return after
}

/** Names of attributes are compared without case. */
function nameOf(attribute: string): string {
  return attribute.toLowerCase()
}
