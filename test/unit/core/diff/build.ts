import { expect } from 'vitest'
import { atOnce, type Steps } from '../../../../src/base/steps.ts'
import { BlockedChanges } from '../../../../src/core/blocked.ts'
import type { Check, Refusal, RunFacts } from '../../../../src/core/checks/check.ts'
import { CHECKS } from '../../../../src/core/checks/checks.ts'
import { removalsNotConfirmed } from '../../../../src/core/checks/removals-not-confirmed.ts'
import { seenAgain } from '../../../../src/core/checks/seen-again.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../../../../src/core/decisions.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import type { Snapshots } from '../../../../src/core/diff/differences.ts'
import type { DiffRules } from '../../../../src/core/diff/rules.ts'
import { noticesOf as noticesIn } from '../../../../src/core/diff/notices.ts'
import { unchangedIn } from '../../../../src/core/diff/unchanged.ts'
import type {
  DirectoryGroup,
  DirectoryUser,
  GroupEntry,
  Kind,
  UserEntry,
} from '../../../../src/core/entries/entry.ts'
import type { GroupLists, ListedGroup } from '../../../../src/core/entries/groups.ts'
import type { Sighting } from '../../../../src/core/entries/recheck.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import { UserTable } from '../../../../src/core/entries/user-table.ts'
import { DirectoryUsers, SourceUsers } from '../../../../src/core/entries/users.ts'
import { firstFacts, judge } from '../../../../src/core/judge.ts'
import { type Key, keyText, wholeOf } from '../../../../src/core/keys.ts'
import type { Notice } from '../../../../src/core/notice.ts'
import { createChanges, order } from '../../../../src/core/order.ts'
import type { Change, DeleteReason } from '../../../../src/core/plan/change.ts'
import type { PlannedChange, PlannedChanges } from '../../../../src/core/plan/changes.ts'
import { type ScopeIds, within } from '../../../../src/core/within.ts'
import { LIMITS } from '../checks/build.ts'

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

export interface Given extends Partial<Pick<RunFacts, 'grace' | 'refusals' | 'states' | 'server'>> {
  readonly rules?: Partial<DiffRules>
  readonly ledger?: Partial<Ledger>
  /** What the recheck finds; left out: that everything absent is gone. */
  readonly sightings?: RunFacts['rechecks']['entries']
  readonly removals?: RunFacts['rechecks']['removals']
  readonly scope?: ScopeIds
  /** Default: what a recheck shows of single entries. */
  readonly anomalies?: readonly Check[]
  /** Default: none. */
  readonly guards?: readonly Check[]
}

/** What a run would do. */
export interface Plan {
  readonly changes: PlannedChanges
  readonly notices: readonly Notice[]
  readonly unchanged: number
  readonly blocked: readonly { readonly change: Change; readonly codes: readonly string[] }[]
  readonly facts: RunFacts
}

const RULES: DiffRules = { policy: 'mirror', membership: 'write', allowedDomains: [] }
const RECHECKED = [seenAgain, removalsNotConfirmed]
export const NOW = new Date('2026-03-10T12:00:00Z')

export function* planInSteps(snapshots: Snapshots, given: Given = {}): Steps<Plan> {
  const { rules, ledger, sightings, removals = new Map(), scope, anomalies, guards = [], ...more } = given
  const wanted = yield* diff(snapshots, { ...RULES, ...rules })
  const decisions = new Decisions({ ...EMPTY_LEDGER, ...ledger })
  const entries = sightings ?? { user: allGone(wanted.absent.user), group: allGone(wanted.absent.group) }
  const first: RunFacts = {
    ...(yield* firstFacts(wanted, decisions)),
    run: 7,
    now: NOW,
    limits: LIMITS,
    grace: { deleteAfter: {}, confirmAfterMs: undefined },
    states: {},
    rechecks: { entries, removals },
    server: undefined,
    refusals: [],
    journal: {
      unapproved: { users: 0, groups: 0, memberships: 0 },
      deleted: { user: new Set(), group: new Set() },
    },
    options: {},
    ...more,
  }
  const proved = yield* judge(anomalies ?? RECHECKED, yield* judge(CHECKS.rules, first))
  const scoped = scope === undefined ? proved : yield* within(proved, scope)
  const facts = yield* judge(guards, yield* judge(CHECKS.refusals, scoped))
  const why = (kind: Kind, id: string): DeleteReason => {
    const state = entries[kind].get(id)
    return state === 'disabled' ? state : state === 'out-of-scope' ? 'left-filter' : 'gone'
  }
  const changes = yield* order(facts.left, why)
  const blocked = yield* BlockedChanges.of(facts, why)
  return {
    changes,
    notices: yield* noticesIn(facts, yield* createChanges(facts.left, why), scope),
    unchanged: yield* unchangedIn(wanted),
    blocked: Array.from(blocked, ({ planned: { change }, reasons }) => ({
      change,
      codes: reasons.map(({ block }) => facts.blocks[block]!.code),
    })),
    facts,
  }
}

/**
 * A plan with membership written. Requires that the plan is the same for users in a table, where equal users are not
 * compared.
 */
export function planOf(source: SourceSnapshot, directory: DirectorySnapshot, given: Given = {}): Plan {
  const plan = atOnce(planInSteps({ source, directory }, given))
  const ofTable = atOnce(planInSteps(inTable({ source, directory }), given))
  expect(plainOf(ofTable)).toEqual(plainOf(plan))
  return plan
}

/** A plan without the facts that it was made of. */
export function plainOf({ changes, facts: _facts, ...plan }: Plan) {
  return { ...plan, changes: [...changes] }
}

function inTable({ source, directory }: Snapshots): Snapshots {
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

/** An operator rejected these keys. */
export function rejecting(keys: Iterable<Key>): Given {
  const rejection = { run: 3, by: 'ana', at: NOW, reason: '' }
  return { ledger: { rejections: new Map(Array.from(keys, (key) => [keyText(wholeOf(key)), rejection])) } }
}

/** The service refused these changes. */
export function refusing(changes: Iterable<PlannedChange>): Given {
  const refusals = Array.from(changes, ({ change: { op, id }, fingerprint: digest }): Refusal => ({
    code: 'quarantine',
    params: { answer: 'no' },
    op,
    id,
    digest,
  }))
  return { refusals }
}

/** A plan as lines such as `update-user ana`. */
export function linesOf({ changes }: Plan): string[] {
  return Array.from(changes, ({ change }) => `${change.op} ${change.id}`)
}

export function noticesOf({ notices }: Plan): string[] {
  return notices.map((notice) => `${notice.code} ${notice.id ?? ''}`)
}

/** What is not made now, as lines such as `delete-user ana: seen-again`. */
export function blockedOf({ blocked }: Plan): string[] {
  return blocked.map(({ change, codes }) => `${change.op} ${change.id}: ${codes.join(' ')}`)
}
