import type {
  DirectoryGroup,
  DirectoryUser,
  GroupEntry,
  UserEntry,
} from '../../../../src/core/entries/entry.ts'
import type { GroupLists, ListedGroup } from '../../../../src/core/entries/groups.ts'
import type { Sighting } from '../../../../src/core/entries/recheck.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import type { UnconfirmedRemoval, Wait } from '../../../../src/core/notice.ts'
import { atOnce } from '../../../../src/base/steps.ts'
import { type Breach, checkGuards } from '../../../../src/core/plan/guards.ts'
import type { Evidence } from '../../../../src/core/plan/evidence/evidence.ts'
import type { DeleteWait, PlanInputs, Withheld } from '../../../../src/core/plan/inputs.ts'
import { makePlan } from '../../../../src/core/plan/plan.ts'
import { UserTable } from '../../../../src/core/entries/user-table.ts'
import { DirectoryUsers, SourceUsers } from '../../../../src/core/entries/users.ts'
import { expect } from 'vitest'

/** Short ways to write both sides of a plan in a test. */
export function wantUser(
  id: string,
  name = `Name ${id}`,
  email: string | undefined = `${id}@example.org`,
): UserEntry {
  return { id, name, email, employeeId: undefined, from: `uid=${id}` }
}

export function wantGroup(id: string, name: string, members: readonly string[] = []): GroupEntry {
  return { id, name, members: members.toSorted(), from: `cn=${name}` }
}

export function haveUser(
  id: string,
  name: string | null = `Name ${id}`,
  email: string | null = `${id}@example.org`,
): DirectoryUser {
  return { id, name, email }
}

export function haveGroup(id: string, name: string, members: readonly string[] = []): DirectoryGroup {
  return { id, name, members: members.toSorted() }
}

export function sourceOf(
  users: readonly UserEntry[],
  groups: readonly GroupEntry[] = [],
  more: Partial<SourceSnapshot> = {},
): SourceSnapshot {
  return {
    users: new Map(users.map((user) => [user.id, user])),
    groups: new Map(groups.map((group) => [group.id, group])),
    seen: { user: new Set(users.map((user) => user.id)), group: new Set(groups.map((group) => group.id)) },
    covers: { groups: true, members: true },
    unreadable: 0,
    notices: [],
    ...more,
  }
}

export function directoryOf(
  users: readonly DirectoryUser[],
  groups: readonly DirectoryGroup[] = [],
  more: Partial<DirectorySnapshot> = {},
): DirectorySnapshot {
  return {
    users: new Map(users.map((user) => [user.id, user])),
    groups: new Map(groups.map((group) => [group.id, group])),
    notices: [],
    moved: false,
    unprovedEmpty: [],
    ...more,
  }
}

/**
 * A plan with membership written, where the second look finds everything gone that the first one missed. Requires that
 * the plan is the same for users in a table, where whoever is alike on both sides is not compared.
 */
export function planOf(source: SourceSnapshot, directory: DirectorySnapshot, more: Partial<PlanInputs> = {}) {
  const inputs: PlanInputs = {
    source,
    directory,
    sightings: { user: allGone(directory.users.keys()), group: allGone(directory.groups.keys()) },
    rules: { policy: 'mirror', membership: 'write', allowedDomains: [] },
    withheld: new Map(),
    ...more,
  }
  const plan = makePlan(inputs)
  const ofTable = makePlan({ ...inputs, ...inTable(inputs) })
  expect({ ...ofTable, changes: [...ofTable.changes] }).toEqual({ ...plan, changes: [...plan.changes] })
  return plan
}

function inTable({ source, directory }: PlanInputs): Pick<PlanInputs, 'source' | 'directory'> {
  const table = new UserTable()
  const users = new SourceUsers(table)
  const listed = new DirectoryUsers(table)
  for (const user of source.users.values()) users.add(user)
  for (const { id, email, name } of directory.users.values())
    listed.add(table.rowOf(id, email ?? undefined, name ?? undefined))
  return { source: { ...source, users }, directory: { ...directory, users: listed } }
}

function allGone(ids: Iterable<string>): Map<string, Sighting> {
  return new Map([...ids].map((id) => [id, 'absent']))
}

/** A group in the lists of a read. A DN as its key is that of a group outside of the filter. */
interface Listing {
  readonly dn?: string
  readonly nested?: readonly string[]
  readonly unresolved?: readonly string[]
  /** The attributes that show a value. */
  readonly shown?: readonly string[]
}

export function listsOf(
  listings: Readonly<Record<string, Listing>>,
  more: Partial<GroupLists> = {},
): GroupLists {
  const groups = Object.entries(listings).map(([key, listing]): [string, ListedGroup] => {
    const id = key.includes('=') ? '' : key
    const { dn = id === '' ? key : `cn=${key}`, nested = [], unresolved = [], shown = [] } = listing
    const lists = shown.map((attribute) => ({ attribute, users: [], nested: [], unresolved: [] }))
    const others = { attribute: 'seeAlso', users: [], nested, unresolved }
    return [dn, { key, id, dn, lists: [...lists, others], memberOf: [] }]
  })
  const empty = {
    withMembers: groups.length,
    asked: ['member'],
    read: ['member'],
    isFlat: true,
    isByUsers: false,
  }
  return { groups: new Map(groups), ...empty, ...more }
}

/** Nothing is known of earlier runs. */
export const NO_EVIDENCE: Evidence = {
  baselines: { user: undefined, group: undefined },
  groupsWithMembers: undefined,
  nesting: { ids: new Map(), strangers: new Map() },
  memberLists: new Map(),
  otherEntries: new Set(),
  waitingGroups: new Set(),
  losses: new Map(),
  deletedLastDay: { user: new Set(), group: new Set() },
  approved: new Set(),
}

export const REJECTED = {
  code: 'rejected',
  params: { by: 'ana', at: '2026-03-09T12:00:00.000Z', run: 3, release: 'alone' },
} as const satisfies Withheld

export const IN_GRACE = {
  code: 'in-grace',
  params: { since: '2026-03-10T12:00:00.000Z', until: '2026-03-11T12:00:00.000Z' },
} as const satisfies DeleteWait

/** The server may lack what the last complete run read. */
export const LACKS = { code: 'server-not-newer', params: {} } as const satisfies Wait

/** The recheck read the members of the group with the DN `cn=g` while they changed. */
export const CHANGING = { code: 'changing', params: { list: 'cn=g' } } as const satisfies UnconfirmedRemoval

/** What the guards object to, at once. */
export function guardsOf(...given: Parameters<typeof checkGuards>): readonly Breach[] {
  return atOnce(checkGuards(...given))
}

/** A plan as lines such as `update-user ana`. */
export function linesOf(plan: ReturnType<typeof makePlan>): string[] {
  return [...plan.changes].map(({ change }) => `${change.op} ${change.id}`)
}

export function noticesOf(plan: ReturnType<typeof makePlan>): string[] {
  return plan.notices.map((notice) => `${notice.code} ${notice.id ?? ''}`)
}
