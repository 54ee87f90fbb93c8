import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DirectoryUser, Kind, UserEntry } from '../../../../src/core/entries/entry.ts'
import type { LossLook } from '../../../../src/core/entries/evidence.ts'
import type { EntryNow } from '../../../../src/core/entries/recheck.ts'
import { judgeLoss, type LosingGroup } from '../../../../src/core/plan/evidence/losses/judge-loss.ts'
import { MembersNow } from '../../../../src/core/plan/evidence/losses/members-now.ts'
import { atOnce, forEachInSteps, PART, type Steps } from '../../../../src/base/steps.ts'
import { useWorkCounter } from '../../../support/work-counter.ts'
import { TextArena } from '../../../../src/core/entries/text-arena.ts'
import { UserTable } from '../../../../src/core/entries/user-table.ts'
import { DirectoryUsers, SourceUsers } from '../../../../src/core/entries/users.ts'
import type { Plan } from '../../../../src/core/plan/changes.ts'
import { listOf } from '../../../../src/core/entries/groups.ts'
import { prove } from '../../../../src/core/plan/evidence/evidence.ts'
import { doubtfulDns } from '../../../../src/core/plan/evidence/nesting.ts'
import {
  type EachPlace,
  findEmptied,
  stillEmptied,
  takeBaseline,
} from '../../../../src/core/plan/baseline.ts'
import { decidedChanges, holdAfter } from '../../../../src/core/plan/decide.ts'
import { checkGuards, heldChanges, isApproved } from '../../../../src/core/plan/guards.ts'
import { heldRows } from '../../../../src/store/held-changes.ts'
import type { PlanInputs } from '../../../../src/core/plan/inputs.ts'
import { deleteCandidates, planInSteps } from '../../../../src/core/plan/plan.ts'
import { directoryOf, haveGroup, haveUser, NO_EVIDENCE, sourceOf, wantGroup, wantUser } from './build.ts'

/**
 * Whoever works at an entry reads one of its texts, so a step that handles all entries at once reads as many texts as
 * there are entries at least, and one that is bounded about fifteen for each entry of its part.
 */
const PEOPLE = 24 * PART
const MOST_READS = 18 * PART

let reads = 0

/**
 * Where no text is read, entries are looked up in collections: an unbounded step does so for each of them at least, and
 * one that is bounded some times for each entry of its part.
 */
const MOST_LOOKUPS = 20 * PART
const collections = useWorkCounter()

const READING = ['textAt', 'has', 'isSame', 'compare'] as const
type Reading = Record<(typeof READING)[number], (...given: unknown[]) => unknown>
const arena = TextArena.prototype as unknown as Reading
const { textAt, has, isSame, compare } = arena
const originals: Reading = { textAt, has, isSame, compare }

// Spies would keep each of the millions of calls.
beforeAll(() => {
  for (const method of READING) {
    arena[method] = function (this: TextArena, ...given: unknown[]) {
      reads += 1
      return originals[method].apply(this, given)
    }
  }
})
afterAll(() => void Object.assign(arena, originals))

/** Does all steps and returns the result, and the most texts that one of them read. */
function measure<T>(steps: Steps<T>): { readonly result: T; readonly most: number; readonly all: number } {
  let [most, all] = [0, 0]
  for (;;) {
    reads = 0
    const before = collections.count
    const step = steps.next()
    expect(collections.count - before).toBeLessThan(MOST_LOOKUPS)
    most = Math.max(most, reads)
    all += reads
    if (step.done === true) return { result: step.value, most, all }
  }
}

interface Listed {
  readonly source: readonly string[]
  readonly directory: readonly string[]
}

/** @param members those of a group that both sides have */
function inputsOf(
  want: readonly UserEntry[],
  have: readonly DirectoryUser[],
  members: Listed = { source: [], directory: [] },
): PlanInputs {
  const table = new UserTable()
  const [users, listed] = [new SourceUsers(table), new DirectoryUsers(table)]
  for (const user of want) users.add(user)
  for (const { id, email, name } of have) listed.add(table.rowOf(id, email ?? undefined, name ?? undefined))
  const seen = { user: new Set(want.map(({ id }) => id)), group: new Set(['g']) }
  const groups = [wantGroup('g', 'All', members.source.toSorted())]
  return {
    source: { ...sourceOf([], groups), users, seen },
    directory: { ...directoryOf([], [haveGroup('g', 'All', members.directory.toSorted())]), users: listed },
    sightings: { user: new Map(have.map(({ id }) => [id, 'absent'])), group: new Map() },
    rules: { policy: 'mirror', membership: 'write', allowedDomains: [] },
    withheld: new Map(),
  }
}

/** Somebody was deleted a while ago, so that who is back is looked for. */
const EVIDENCE = { ...NO_EVIDENCE, deletedLastDay: { user: new Set(['nobody']), group: new Set<string>() } }

const KIND = {
  maxDeletes: 10,
  maxDeletePercent: 10,
  maxDeletesPerDay: 10,
  maxUpdates: 10,
  maxUpdatePercent: 10,
}
const LIMITS = {
  users: KIND,
  groups: KIND,
  memberships: KIND,
  minSourceUsers: 0,
  maxSourceShrinkPercent: 10,
  maxMovedIds: 10,
}

function guardsOfPlan(plan: Plan, { directory }: PlanInputs): ReturnType<typeof checkGuards> {
  const counts = { users: directory.users.size, groups: 0, memberships: 0 }
  const none = { users: 0, groups: 0, memberships: 0 }
  const facts = { source: counts, directory: counts, unprovedEmpty: ['user' as const], deletedLastDay: none }
  return checkGuards(plan, { ...facts, lastGood: { users: 1, groups: 0 } }, LIMITS)
}

const ids = Array.from({ length: PEOPLE }, (_, index) => `u${(index * 7919) % PEOPLE}`)
const wanted = ids.map((id) => wantUser(id))
const had = ids.map((id) => haveUser(id))
const renamed = ids.map((id) => haveUser(id, `Old ${id}`))

test.each<[string, readonly UserEntry[], readonly DirectoryUser[], number]>([
  ['new', wanted, [], PEOPLE],
  ['renamed', wanted, renamed, PEOPLE],
  ['gone', [], had, PEOPLE],
])(
  'no step of a run in which all people are %s handles more than a part of them',
  (_, want, have, changes) => {
    const inputs = inputsOf(want, have)
    const candidates = measure(deleteCandidates(inputs.source, inputs.directory))
    const planned = measure(planInSteps(inputs))
    expect(planned.result.changes.length).toBe(changes)
    const proved = measure(prove(inputs, planned.result, EVIDENCE))
    const guarded = measure(guardsOfPlan(proved.result.plan, inputs))
    const most = [candidates, planned, proved, guarded].map((each) => each.most)
    expect(Math.max(...most)).toBeLessThan(MOST_READS)
    if (changes > 0) expect(planned.all).toBeGreaterThan(PEOPLE)
  },
)

const half = ids.slice(0, PEOPLE / 2)

test.each<[string, Listed, number]>([
  ['gone', { source: [], directory: ids }, 1],
  ['half of them others', { source: ids, directory: half }, 1],
])(
  'no step of a plan for a group of all people, with the members %s, handles more than a part',
  (_, members, changes) => {
    const planned = measure(planInSteps(inputsOf(wanted, had, members)))
    expect(planned.result.changes.length).toBe(changes)
    expect(planned.most).toBeLessThan(MOST_READS)
    expect(planned.all).toBeGreaterThan(PEOPLE)
  },
)

test('no step of a run in which all people wait handles more than a part of them', () => {
  const at = '2026-11-21T07:29:03.000Z'
  const wait = { code: 'in-grace', params: { since: at, until: at } } as const
  const inputs = { ...inputsOf([], had), waits: { whyNotDeleted: () => wait } }
  const planned = measure(planInSteps(inputs))
  expect(planned.result.notices).toHaveLength(PEOPLE)
  const proved = measure(prove(inputs, planned.result, EVIDENCE)).result
  measure(guardsOfPlan(proved.plan, inputs))
})

const REJECTION = { by: 'bo', at: '2026-11-21T07:29:03.000Z', run: 1, release: null }

test('no step of a run in which each of all people gets the e-mail of the next one handles more than a part', () => {
  const next = ids.map((id, place) => wantUser(id, `Name ${id}`, `${ids[(place + 1) % PEOPLE]}@example.org`))
  const inputs = inputsOf(next, had)
  const withheld = { code: 'rejected', params: REJECTION } as const
  const planned = measure(planInSteps({ ...inputs, withheld: new Map([['another change', withheld]]) }))
  expect(planned.result.changes.length).toBe(PEOPLE)
})

/** Every group loses one of two members, lists its members in one attribute less, and lacks a nested group. */
function losingInputs(): PlanInputs {
  const groups = ids.map((id) => wantGroup(id, id, ['u0']))
  const listed = new Map(
    ids.map((id) => [id, { key: id, id, dn: id, memberOf: [], lists: [listOf('member', ['u0'], ['new'])] }]),
  )
  const attributes = ['member', 'uniqueMember']
  const lists = {
    groups: listed,
    withMembers: PEOPLE,
    asked: attributes,
    read: attributes,
    isFlat: true,
    isByUsers: false,
  }
  return {
    ...inputsOf([], []),
    source: sourceOf([wantUser('u0'), wantUser('u1')], groups, { lists }),
    directory: directoryOf(
      [haveUser('u0'), haveUser('u1')],
      ids.map((id) => haveGroup(id, id, ['u0', 'u1'])),
    ),
  }
}

test('no step of a proof about all groups handles more than a part of them', () => {
  const inputs = losingInputs()
  const evidence = {
    ...NO_EVIDENCE,
    groupsWithMembers: PEOPLE,
    nesting: { ids: new Map([['old', '']]), strangers: new Map(ids.map((id) => [id, 'other'])) },
    memberLists: new Map(ids.map((id) => [id, ['member', 'uniqueMember']])),
  }
  expect(measure(doubtfulDns(inputs, evidence.nesting)).result).toEqual(['new'])
  const planned = measure(planInSteps(inputs))
  const { findings } = measure(prove(inputs, planned.result, evidence)).result
  expect(findings).toMatchObject([{ code: 'nested-group-absent', changes: { length: PEOPLE } }])
})

/** All that the recheck of groups works out between its requests. */
function* rechecked(now: MembersNow, losing: readonly LosingGroup[]): Steps<readonly LossLook[]> {
  now.take(yield* now.unknown(), new Map())
  const listed = yield* now.listed()
  const looks: LossLook[] = []
  for (const group of losing) looks.push(yield* judgeLoss(group, now, listed))
  return looks
}

const NO_NAMES = { uids: [], memberOf: [], primaryGroup: undefined }

function entryNow(id: string, kind: Kind, more: Partial<EntryNow> = {}): EntryNow {
  const own = { user: [], group: [], [kind]: [id] }
  return { dn: id, normalDn: id, ids: own, group: undefined, ...NO_NAMES, ...more }
}

/** Groups with these members, which each would lose the first one: the recheck finds it in the list. */
function recheckOf(groups: readonly string[], members: readonly string[], people = members) {
  const [lost = ''] = members
  const list = { attribute: 'member', isShown: true, isOfNames: false, members }
  const group = { lists: [list], primaryNames: [], chained: [], whyUnknown: undefined, demanded: undefined }
  const entries = (id: string) => [entryNow(id, 'group', { group: { ...group, isMemberOfShown: false } })]
  const lists = { isFlat: true, isByUsers: false, withMembers: 1, asked: ['member'], read: ['member'] }
  const before = {
    ...sourceOf(
      [],
      groups.map((id) => wantGroup(id, id, members.slice(1))),
    ),
    lists: { groups: new Map(), ...lists },
    names: {
      prepare: () => forEachInSteps([], () => undefined),
      idOf: (name: string) => name,
      dnOf: () => undefined,
    },
  }
  const user = new Map(
    people.map((id) => [id, { state: 'present', entries: [entryNow(id, 'user')] }] as const),
  )
  const now = new Map(groups.map((id) => [id, { state: 'present', entries: entries(id) }] as const))
  const losing = groups.map((id) => ({ id, lost: [lost], entries: entries(id), wasRenamed: false }))
  return { now: new MembersNow(before, { user, group: now }), losing }
}

test('no step of the recheck of a group of all people handles more than a part of them', () => {
  const { now, losing } = recheckOf(['all'], ids)
  expect(measure(rechecked(now, losing)).result).toMatchObject([{ stillMembers: [ids[0]] }])
})

test('the recheck of many groups does not go through all lost users for each of them', () => {
  const { now, losing } = recheckOf(ids.slice(0, 500), ids.slice(0, 10), ids.slice(0, 5000))
  const before = collections.count
  expect(atOnce(rechecked(now, losing))).toHaveLength(500)
  expect(collections.count - before).toBeLessThan(500 * 100 + 5000 * 10)
})

const eachPlace: EachPlace = (visit) => forEachInSteps(ids, (id) => visit(id, 'ou=all,dc=org'))
const nobody: EachPlace = () => forEachInSteps([], () => undefined)

test('no step of a look at the containers of all people handles more than a part of them', () => {
  const before = measure(takeBaseline(eachPlace)).result
  expect(measure(findEmptied(before, nobody, ids)).result).toMatchObject([{ container: 'ou=all,dc=org' }])
  const emptied = { ...before, emptied: ['ou=all,dc=org'] }
  expect(measure(stillEmptied(emptied, ids)).result).toEqual(['ou=all,dc=org'])
  measure(takeBaseline(nobody, { absent: ids, before }))
})

const UNDO_DELETES = { code: 'undo-deletes', params: { run: 1, users: 1, groups: 0 } } as const

test('no step of a decision about all people handles more than a part of them', () => {
  const breaches = [
    { ...UNDO_DELETES, changes: ids },
    { ...UNDO_DELETES, changes: half },
  ]
  const all = new Set(ids)
  const hold = { state: 'held', hold: 'open', breaches }
  expect(measure(isApproved(breaches, all)).result).toBe(true)
  expect(measure(heldChanges(breaches)).result).toHaveLength(PEOPLE)
  expect(measure(decidedChanges(hold, 'approved', breaches.slice(0, 1))).result).toHaveLength(PEOPLE / 2)
  expect(measure(holdAfter(hold, (id) => all.has(id))).result).toBe('approved')
  const rows = measure(heldRows(breaches)).result
  expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(PEOPLE)
  expect(new Set(rows.map(({ breaches: places }) => places.join()))).toEqual(new Set(['0', '0,1']))
})
