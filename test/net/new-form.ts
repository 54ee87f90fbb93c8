import { atOnce, forEachInSteps, type Steps } from '../../src/base/steps.ts'
import type { GroupEntry, Kind } from '../../src/core/entries/entry.ts'
import {
  flatten,
  type GroupLists,
  type ListedGroup,
  type MemberNames,
} from '../../src/core/entries/groups.ts'
import type { EntryNow, GroupNow, Recheck } from '../../src/core/entries/recheck.ts'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { UserTable } from '../../src/core/entries/user-table.ts'
import { SourceUsers } from '../../src/core/entries/users.ts'
import type { Notice } from '../../src/core/notice.ts'
import type { Source } from '../../src/source/source.ts'
import {
  groupsByDn,
  isUnproved,
  isNameless,
  isShown,
  keyOf,
  listsNames,
  showsAllLists,
  sightingOf,
} from './recheck.ts'
import type { Seen, SeenGroup, Sighting, Step } from './story.ts'

const STATES = {
  gone: 'absent',
  'left-filter': 'out-of-scope',
  disabled: 'disabled',
  present: 'present',
} as const satisfies Record<Sighting, string>

/** The source in the present form: groups are data, and the decider judges what is read once more. */
export function newSource(step: Step): Pick<Source, 'read' | 'readIds' | 'readDns'> {
  const { idsAt, seen } = step
  const byDn = groupsByDn(seen)
  const entryAt = (dn: string): EntryNow | undefined => {
    const group = byDn.get(dn)
    if (group !== undefined) return groupNow(step, group)
    const ids = idsAt.get(dn)
    return ids && entryNow(dn, { user: [], group: ids })
  }
  return {
    read: async (_signal, { table = new UserTable() } = {}) => newSnapshot(seen, new SourceUsers(table)),
    readIds: async (kind, ids) => new Map(ids.map((id) => [id, recheckOf(step, kind, id)])),
    ...(seen.isLdap && {
      readDns: async (dns) =>
        new Map(dns.flatMap((dn) => [entryAt(dn) ?? []].flat().map((entry) => [dn, entry]))),
    }),
  }
}

function recheckOf(step: Step, kind: Kind, id: string): Recheck {
  const sighting = sightingOf(step, kind, id)
  const state = STATES[sighting]
  if (!step.seen.isLdap) return { state }
  if (kind === 'user') return { state, entries: sighting === 'gone' ? [] : [userNow(step, id)] }
  const groups = step.seen.groups.filter((group) => group.isInFilter && group.id === id)
  return { state, entries: groups.map((group) => groupNow(step, group)) }
}

function entryNow(dn: string, ids: EntryNow['ids'], group?: GroupNow): EntryNow {
  return { dn, normalDn: dn, ids, uids: [], memberOf: [], primaryGroup: undefined, group }
}

function userNow(step: Step, id: string): EntryNow {
  return {
    ...entryNow(nameOf(id), { user: [id], group: [] }),
    uids: isNameless(step, id) ? [] : [id],
  }
}

function groupNow(step: Step, group: SeenGroup): EntryNow {
  const { losses, seen } = step
  const isOfNames = listsNames(losses, group)
  const why = whyUnproved(step, group)
  const others = [...Array.from(losses.renamed, nameOf), ...(why === 'hidden' ? ['cn=hidden,dc=x'] : [])]
  const lists = seen.memberAttributes.map((attribute, place) => {
    const listed = group.lists.filter((list) => list.attribute === attribute)
    const members = [...listed.flatMap(membersIn), ...(place === 0 ? others : [])]
    return { attribute, members, isOfNames, isShown: members.length > 0 || showsAllLists(step, group) }
  })
  const now = {
    lists,
    primaryNames: [],
    chained: [],
    whyUnknown: why === 'changing' ? why : undefined,
    demanded: why === 'demanded' ? seen.memberAttributes[0] : undefined,
    isMemberOfShown: false,
  }
  return entryNow(group.dn, { user: [], group: group.isInFilter ? [group.id] : [] }, now)
}

/** The schema demands a list that is not shown, or the group lists an entry that is not, or it changes. */
function whyUnproved(step: Step, group: SeenGroup): 'demanded' | 'hidden' | 'changing' | undefined {
  if (!isUnproved(step.losses, group)) return undefined
  if (step.losses.renamed.size === 0 && !showsAllLists(step, group)) return 'demanded'
  return Number.parseInt(group.id.slice(1)) % 3 === 0 ? 'changing' : 'hidden'
}

function membersIn({ users, nested, unresolved }: SeenGroup['lists'][number]): readonly string[] {
  return [...users.map(nameOf), ...nested, ...unresolved]
}

function nameOf(user: string): string {
  return `uid=${user}`
}

/** Users are listed by these names alone. */
const NAMES: MemberNames = {
  *prepare() {
    yield
    return undefined
  },
  idOf: (name) => (name.startsWith('uid=') ? name.slice('uid='.length) : undefined),
  dnOf: (name) => name,
}

/** `users` is filled with the users. */
function newSnapshot(seen: Seen, users: SourceUsers): SourceSnapshot {
  for (const user of seen.users) users.add({ ...user, from: `uid=${user.id},${user.container}` })
  const skipped = (kind: Kind) => seen.skipped.flatMap((each) => (each.kind === kind ? [each.id] : []))
  const isSkipped = new Set(skipped('group'))
  const inFilter = seen.covers.groups ? seen.groups.filter(({ isInFilter }) => isInFilter) : []
  const lists = listsOf(seen)
  const groups = inFilter.filter(({ id }) => !isSkipped.has(id)).map((group) => entryOf(lists, group))
  return {
    users,
    groups: new Map(groups.map((group) => [group.id, group])),
    covers: seen.covers,
    seen: {
      user: new Set([...users.keys(), ...skipped('user')]),
      group: new Set([...groups.map(({ id }) => id), ...skipped('group')]),
    },
    unreadable: seen.unreadable,
    // Only codes and ids of notices are compared.
    notices: seen.skipped.map(({ kind, id, code }) => ({ kind, id, code, params: {} }) as unknown as Notice),
    ...(seen.isLdap && {
      lists,
      names: NAMES,
      places: { user: { each: eachOf(seen.users) }, group: { each: eachOf(inFilter) } },
    }),
    ...(seen.server !== undefined && { server: seen.server }),
  }
}

function eachOf(entries: readonly { readonly id: string; readonly container: string }[]) {
  return (visit: (id: string, container: string) => void): Steps<void> =>
    forEachInSteps(entries, ({ id, container }) => visit(id, container))
}

function entryOf({ groups }: GroupLists, { id, name, dn }: SeenGroup): GroupEntry {
  return { id, name, members: [...new Set(atOnce(flatten(groups, groups.get(dn)!)))].toSorted(), from: dn }
}

function listsOf(seen: Seen): GroupLists {
  const known = groupsByDn(seen)
  const listed = (group: SeenGroup): ListedGroup => ({
    key: keyOf(group),
    id: group.isInFilter ? group.id : '',
    dn: group.dn,
    lists: group.lists.filter(isShown).map(({ nested, unresolved, ...list }) => ({
      ...list,
      nested: nested.filter((dn) => known.has(dn)),
      unresolved: [...nested.filter((dn) => !known.has(dn)), ...unresolved],
    })),
    memberOf: [],
  })
  const inFilter = seen.groups.filter(({ isInFilter }) => isInFilter)
  return {
    groups: new Map([...known].map(([dn, group]) => [dn, listed(group)])),
    withMembers: inFilter.filter(({ lists }) => lists.some(({ users }) => users.length > 0)).length,
    asked: seen.memberAttributes,
    read: seen.memberAttributes,
    isFlat: true,
    isByUsers: false,
  }
}
