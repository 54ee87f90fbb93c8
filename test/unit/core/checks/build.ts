import { atOnce } from '../../../../src/base/steps.ts'
import type {
  Check,
  Facts,
  GuardLimits,
  Moment,
  Rechecks,
  RunFacts,
  States,
} from '../../../../src/core/checks/check.ts'
import type { Block } from '../../../../src/core/block.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../../../../src/core/decisions.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import type { DiffRules } from '../../../../src/core/diff/rules.ts'
import type { Kind } from '../../../../src/core/entries/entry.ts'
import type { GroupLists, ListedGroup } from '../../../../src/core/entries/groups.ts'
import type { Sighting } from '../../../../src/core/entries/recheck.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import { firstFacts, judge } from '../../../../src/core/judge.ts'
import {
  all,
  type FactKey,
  isEmpty,
  type Key,
  keyText,
  type Sparse,
  wholeOf,
} from '../../../../src/core/keys.ts'

/** An id alone stands for a user with its usual name and e-mail. */
export type Listed =
  | string
  | { readonly id: string; readonly name?: string; readonly email?: string; readonly from?: string }
export type Groups = Readonly<Record<string, readonly string[]>>

export const NOW = new Date('2026-03-10T12:00:00Z')
export const HOUR = 3_600_000

const KIND = {
  maxDeletes: 50,
  maxDeletePercent: 10,
  maxDeletesPerDay: 100,
  maxUpdates: null,
  maxUpdatePercent: null,
}
export const LIMITS: GuardLimits = {
  users: KIND,
  groups: KIND,
  memberships: KIND,
  minSourceUsers: 1,
  maxSourceShrinkPercent: 20,
}

export function limitsOf(
  kind: 'users' | 'groups' | 'memberships',
  more: Partial<GuardLimits['users']>,
): GuardLimits {
  return { ...LIMITS, [kind]: { ...KIND, ...more } }
}

/** `prefix` with numbers: `u000` … */
export function ids(count: number, prefix = 'u'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`)
}

function valuesOf(listed: Listed) {
  const { id, ...more } = typeof listed === 'string' ? { id: listed } : listed
  return { id, name: `Name ${id}`, email: `${id}@example.org`, ...more }
}

export function sourceOf(
  users: readonly Listed[],
  groups: Groups = {},
  more: Partial<SourceSnapshot> = {},
): SourceSnapshot {
  const entries = users
    .map(valuesOf)
    .map((user) => ({ from: `uid=${user.id}`, employeeId: undefined, ...user }))
  return {
    users: new Map(entries.map((user) => [user.id, user])),
    groups: new Map(
      Object.entries(groups).map(([id, members]) => [
        id,
        { id, name: id, members: members.toSorted(), from: `cn=${id}` },
      ]),
    ),
    seen: { user: new Set(entries.map(({ id }) => id)), group: new Set(Object.keys(groups)) },
    covers: { groups: true, members: true },
    unreadable: 0,
    notices: [],
    ...more,
  }
}

export function directoryOf(
  users: readonly Listed[],
  groups: Groups = {},
  more: Partial<DirectorySnapshot> = {},
): DirectorySnapshot {
  return {
    users: new Map(users.map(valuesOf).map((user) => [user.id, user])),
    groups: new Map(
      Object.entries(groups).map(([id, members]) => [id, { id, name: id, members: members.toSorted() }]),
    ),
    notices: [],
    moved: false,
    unprovedEmpty: [],
    ...more,
  }
}

/** What one attribute of a group lists. */
interface Attribute {
  readonly users?: readonly string[]
  readonly nested?: readonly string[]
  readonly unresolved?: readonly string[]
}

/** Groups by id, with the DN `cn=ID`; a key that is a DN is that of a group outside of the filter. */
export function listsOf(
  groups: Readonly<Record<string, Readonly<Record<string, Attribute>>>>,
  asked: readonly string[] = ['member'],
): GroupLists {
  const listed = Object.entries(groups).map(([key, attributes]): ListedGroup => {
    const id = key.includes('=') ? '' : key
    const lists = Object.entries(attributes).map(([attribute, list]) => ({
      attribute,
      users: [],
      nested: [],
      unresolved: [],
      ...list,
    }))
    return { key, id, dn: id === '' ? key : `cn=${key}`, lists, memberOf: [] }
  })
  const others = { withMembers: listed.length, asked, read: asked, isFlat: true, isByUsers: false }
  return { groups: new Map(listed.map((group) => [group.dn, group])), ...others }
}

export type Given = Partial<Omit<RunFacts, keyof Facts | 'rechecks'>> & {
  readonly rules?: Partial<DiffRules>
  readonly ledger?: Partial<Ledger>
  /** What the recheck found of entries; the others are absent. */
  readonly found?: Readonly<Partial<Record<Kind, Readonly<Record<string, Sighting>>>>>
  readonly removals?: Rechecks['removals']
  /** The tiers before. */
  readonly after?: readonly (readonly Check[])[]
}

/** What a check sees: a mirror of the source with membership written, where the recheck finds no absent entry. */
export function factsOf(source: SourceSnapshot, directory: DirectorySnapshot, given: Given = {}): RunFacts {
  const { rules, ledger, found, removals = new Map(), after = [], ...more } = given
  const wanted = atOnce(
    diff({ source, directory }, { policy: 'mirror', membership: 'write', allowedDomains: [], ...rules }),
  )
  const decisions = new Decisions({ ...EMPTY_LEDGER, ...ledger })
  const sightings = (kind: Kind) =>
    new Map([...wanted.absent[kind]].map((id) => [id, found?.[kind]?.[id] ?? 'absent'] as const))
  let facts: RunFacts = {
    ...atOnce(firstFacts(wanted, decisions)),
    run: 7,
    now: NOW,
    limits: LIMITS,
    grace: { deleteAfter: {}, confirmAfterMs: undefined },
    states: {},
    rechecks: { entries: { user: sightings('user'), group: sightings('group') }, removals },
    server: undefined,
    refusals: [],
    journal: {
      unapproved: { users: 0, groups: 0, memberships: 0 },
      deleted: { user: new Set(), group: new Set() },
    },
    options: {},
    ...more,
  }
  for (const tier of after) facts = atOnce(judge(tier, facts))
  return facts
}

/** The blocks of a check that block anything, with their keys as text. */
export function blocksOf(check: Check, facts: RunFacts) {
  const blocks = atOnce(check.judge(facts)).filter(
    ({ asks, keys }) => asks !== undefined || !atOnce(isEmpty(keys)),
  )
  return blocks.map((block) => ({ ...block, keys: textsOf(block.keys) }))
}

export function codesOf(check: Check, facts: RunFacts): readonly string[] {
  return blocksOf(check, facts).map(({ code }) => code)
}

/** All keys that a check blocks. */
export function blockedBy(check: Check, facts: RunFacts): readonly string[] {
  return blocksOf(check, facts).flatMap(({ keys }) => keys)
}

/** What the plan makes after a check, with approvals. */
export function leftAfter(check: Check, facts: RunFacts): readonly string[] {
  return textsOf(all(atOnce(judge([check], facts)).left))
}

export function ofKey(block: Pick<Block, 'of'> | undefined, ...key: Key): unknown {
  return block?.of?.(key)
}

function textsOf(keys: Sparse<Key>): readonly string[] {
  return [...keys].filter((key) => key !== undefined).map((key) => key.join(' '))
}

/** An operator approved these keys, which a run had put for this reason. */
export function approving(code: string, ...keys: readonly (Key | FactKey)[]): Partial<Ledger> {
  const texts = keys.map(keyText)
  const codes = new Set([code])
  return {
    blocked: new Map(texts.map((text) => [text, { since: 3, asks: codes }])),
    approvals: new Map(texts.map((text) => [text, { codes, run: 3, by: 'ana', at: NOW, isUsed: false }])),
  }
}

export function rejecting(...keys: readonly Key[]): Partial<Ledger> {
  const rejection = { run: 3, by: 'ana', at: NOW, reason: '' }
  return { rejections: new Map(keys.map((key) => [keyText(wholeOf(key)), rejection])) }
}

export const BEGUN: Moment = { at: 'begun' }

export function ended(
  end: 'applied' | 'held' | 'failed',
  deleted: Readonly<Partial<Record<Kind, readonly string[]>>> = {},
): Moment {
  return { at: 'end', end, deleted: { user: new Set(deleted.user), group: new Set(deleted.group) } }
}

export function nextOf(check: Check, facts: RunFacts, moment: Moment): Partial<States> {
  return check.next === undefined ? {} : atOnce(check.next(facts, moment))
}

/** The states after a run that applied, or how it ended. */
export function statesAfter(check: Check, facts: RunFacts, end = ended('applied')): States {
  return { ...facts.states, ...nextOf(check, facts, BEGUN), ...nextOf(check, facts, end) }
}
