import type { EmptiedReason } from '../../block.ts'
import { byName } from '../../entries/by-name.ts'
import { createWithin, type ListedGroup } from '../../entries/groups.ts'
import { sortedUnique } from '../../entries/normalize.ts'
import { forEachInSteps, type Steps } from '../../../base/steps.ts'
import type { SourceSnapshot } from '../../entries/snapshot.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../changes.ts'
import type { Evidence, Finding, MemberLists } from './finding.ts'
import {
  absentAfter,
  decidesNoLoss,
  type Losing,
  losingFinding,
  removalsOf,
  MIN_EMPTIED,
  undecidedGroups,
} from './losing.ts'

/** The lists of members that a group had in the last good run, and lacks now. */
interface SilentLists {
  readonly dn: string
  readonly attributes: readonly string[]
  /** Why they may be empty although no member left. */
  readonly why: 'not-read' | 'not-shown' | 'not-shown-by-any-group'
  /** The changes that may come from their absence alone. */
  readonly losers: Losing[]
}

/**
 * Groups that list no member any more in one of several attributes, while another one still has members: the bind
 * account may not read that list any more, or the configuration does not name it. Blocks all groups with its members.
 * Small removals count where no group shows the attribute any more.
 */
export function* silentLists(
  { source }: PlanInputs,
  losing: readonly Losing[],
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
): Steps<Finding[]> {
  if (source.lists === undefined || before.size === 0) return []
  const within = yield* createWithin(source.lists)
  const look = yield* createLook(source)
  const silent = new Map<string, SilentLists>()
  for (const planned of losing) {
    yield
    for (const { key, dn } of within(planned.change.id)) {
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

function* memberListsOf({ lists }: SourceSnapshot): Steps<MemberLists> {
  const now = new Map<string, readonly string[]>()
  if (lists === undefined || lists.read.length < 2) return now
  const shownBy = (group: ListedGroup) =>
    lists.read.filter((name) => group.lists.some(({ attribute }) => attribute === name))
  yield* forEachInSteps(lists.groups.values(), (group) => now.set(group.key, shownBy(group)))
  return now
}

type Look = (key: string, dn: string, before: readonly string[]) => SilentLists | undefined

/** Finds the attributes that a group had and lacks now, the most telling first. */
function* createLook(source: SourceSnapshot): Steps<Look> {
  const now = yield* memberListsOf(source)
  const asked = new Set(source.lists?.asked.map(nameOf))
  const shownByAny = new Set<string>()
  yield* forEachInSteps(now.values(), (shown) => {
    for (const name of shown) shownByAny.add(nameOf(name))
  })
  return (key, dn, before) => {
    const shown = now.get(key)?.map(nameOf)
    const of = (why: SilentLists['why'], isSilent: (name: string) => boolean): SilentLists | undefined => {
      const attributes = before.filter((name) => isSilent(nameOf(name)))
      return attributes.length === 0 ? undefined : { dn, attributes, why, losers: [] }
    }
    const notAskedFor = of('not-read', (name) => !asked.has(name))
    if (notAskedFor !== undefined || shown === undefined) return notAskedFor
    return (
      of('not-shown-by-any-group', (name) => !shownByAny.has(name)) ??
      of('not-shown', (name) => !shown.includes(name))
    )
  }
}

/** Reports an empty group whose members were in an attribute that the configuration no longer reads. */
export function* createConfigurationLook(
  { source }: PlanInputs,
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
): Steps<(group: string) => EmptiedReason | undefined> {
  const look = yield* createLook(source)
  return (group) => {
    const found = look(group, '', before.get(group) ?? [])
    if (found?.why !== 'not-read') return undefined
    return { code: 'attribute-not-read', params: { attributes: found.attributes } }
  }
}

function silentFinding({ dn, attributes, why, losers }: SilentLists): Finding {
  const lost = losers.reduce((sum, { removes }) => sum + removes, 0)
  const params = { how: 'attribute-empty', list: dn, attributes, why, ...removalsOf(losers, lost) } as const
  return losingFinding({ code: 'group-emptied', params }, losers)
}

/** For the next run. Old lists stay until the removals are decided, and while the directory has an absent group. */
export function* memberListsAfter(
  inputs: PlanInputs,
  plan: Plan,
  { memberLists: before }: Pick<Evidence, 'memberLists'>,
  waitingGroups: readonly string[],
): Steps<MemberLists> {
  const { source } = inputs
  const now = yield* memberListsOf(source)
  if (before.size === 0) return now
  const open = yield* undecidedGroups(inputs, plan, waitingGroups)
  const isNothingDecided = decidesNoLoss(inputs)
  const isAbsent = absentAfter(inputs, plan)
  /** For each group with a list, the ids of the groups that have its members. */
  const within = yield* createWithin(source.lists)
  const around = yield* byName(source.seen.group, (id) => within(id).map(({ key }) => key))
  const isKept = (key: string): boolean =>
    isNothingDecided || isAbsent(key) || (around.get(key) ?? []).some((id) => open.has(id))
  const after = new Map<string, readonly string[]>()
  yield* forEachInSteps(now, ([key, shown]) => after.set(key, shown))
  yield* forEachInSteps(before, ([key, attributes]) => {
    if (!isKept(key)) return
    const shown = now.get(key) ?? []
    const names = new Set(shown.map(nameOf))
    after.set(key, sortedUnique([...attributes.filter((name) => !names.has(nameOf(name))), ...shown]))
  })
  return after
}

/** Names of attributes are compared without case. */
function nameOf(attribute: string): string {
  return attribute.toLowerCase()
}
