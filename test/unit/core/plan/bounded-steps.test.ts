import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DirectoryUser, Kind, UserEntry } from '../../../../src/core/entries/entry.ts'
import type { EntryNow, LossLook } from '../../../../src/core/entries/recheck.ts'
import { judgeLoss } from '../../../../src/core/recheck/judge-loss.ts'
import { MembersNow } from '../../../../src/core/recheck/members-now.ts'
import { atOnce, forEachInSteps, PART, type Steps } from '../../../../src/base/steps.ts'
import { useWorkCounter } from '../../../support/work-counter.ts'
import { TextArena } from '../../../../src/core/entries/text-arena.ts'
import { UserTable } from '../../../../src/core/entries/user-table.ts'
import { DirectoryUsers, SourceUsers } from '../../../../src/core/entries/users.ts'
import { listOf } from '../../../../src/core/entries/groups.ts'
import type { Places } from '../../../../src/core/entries/snapshot.ts'
import { findEmptied, takeBaseline } from '../../../../src/core/plan/baseline.ts'
import { BlockedChanges } from '../../../../src/core/blocked.ts'
import { CHECKS } from '../../../../src/core/checks/checks.ts'
import type { RunFacts } from '../../../../src/core/checks/check.ts'
import { chosenKeys, decided, shownBy } from '../../../../src/core/decide.ts'
import { afterApplying, afterRead, blocking, withoutExpired } from '../../../../src/core/ledger.ts'
import { Decisions, EMPTY_LEDGER, type Ledger } from '../../../../src/core/decisions.ts'
import { diff } from '../../../../src/core/diff/diff.ts'
import type { Snapshots } from '../../../../src/core/diff/differences.ts'
import { noticesOf } from '../../../../src/core/diff/notices.ts'
import { unchangedIn } from '../../../../src/core/diff/unchanged.ts'
import { firstFacts, judge } from '../../../../src/core/judge.ts'
import { createChanges, order } from '../../../../src/core/order.ts'
import { within } from '../../../../src/core/within.ts'
import { BEGUN, ended } from '../checks/build.ts'
import { directoryOf, haveGroup, haveUser, NOW, sourceOf, wantGroup, wantUser } from '../diff/build.ts'

/**
 * Each step that handles an entry reads its texts, so a step that handles all entries at once reads as many texts as there
 * are entries at least, and a bounded one some hundred for each entry of its part.
 */
const PEOPLE = 384 * PART
const MOST_READS = 300 * PART

let reads = 0

/**
 * Where no text is read, entries are looked up in collections: an unbounded step does so for each of them at least, and
 * one that is bounded some times for each entry of its part.
 */
const MOST_LOOKUPS = 300 * PART
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
): Snapshots {
  const table = new UserTable()
  const [users, listed] = [new SourceUsers(table), new DirectoryUsers(table)]
  for (const user of want) users.add(user)
  for (const { id, email, name } of have) listed.add(table.rowOf(id, email ?? undefined, name ?? undefined))
  const seen = { user: new Set(want.map(({ id }) => id)), group: new Set(['g']) }
  const groups = [wantGroup('g', 'All', members.source.toSorted())]
  return {
    source: { ...sourceOf([], groups), users, seen },
    directory: { ...directoryOf([], [haveGroup('g', 'All', members.directory.toSorted())]), users: listed },
  }
}

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

const ids = Array.from({ length: PEOPLE }, (_, index) => `u${(index * 7919) % PEOPLE}`)
const people = ids.map((id) => wantUser(id))
const had = ids.map((id) => haveUser(id))
const renamed = ids.map((id) => haveUser(id, `Old ${id}`))

type Given = Partial<Pick<RunFacts, 'grace' | 'states' | 'rechecks'>> & { readonly ledger?: Ledger }

/** Everything that a run works out, and what it leaves for the next one. */
function measureRun(snapshots: Snapshots, { ledger = EMPTY_LEDGER, ...given }: Given = {}) {
  const rules = { policy: 'mirror', membership: 'write', allowedDomains: [] } as const
  let [most, all] = [0, 0]
  const of = <T>(steps: Steps<T>): T => {
    const measured = measure(steps)
    most = Math.max(most, measured.most)
    all += measured.all
    return measured.result
  }
  const wanted = of(diff(snapshots, rules))
  const decisions = new Decisions(of(withoutExpired(ledger, NOW, 1)))
  const gone = new Map(Array.from(wanted.absent.user, (id) => [id, 'absent'] as const))
  const first: RunFacts = {
    ...of(firstFacts(wanted, decisions)),
    run: 7,
    now: NOW,
    limits: LIMITS,
    grace: { deleteAfter: {}, confirmAfterMs: undefined },
    states: { size: { users: 1, groups: 0 } },
    rechecks: { entries: { user: gone, group: new Map() }, removals: new Map() },
    server: undefined,
    refusals: [],
    journal: {
      unapproved: { users: 0, groups: 0, memberships: 0 },
      // An earlier delete, so that new users are looked for among them.
      deleted: { user: new Set(['nobody']), group: new Set() },
    },
    options: {},
    ...given,
  }
  const proved = of(judge(CHECKS.anomalies, of(judge(CHECKS.rules, first))))
  const facts = of(judge(CHECKS.guards, of(judge(CHECKS.refusals, proved))))
  const plan = of(order(facts.left, () => 'gone'))
  const blocked = of(BlockedChanges.of(facts, () => 'gone'))
  of(noticesOf(facts, of(createChanges(facts.left, () => 'gone'))))
  of(unchangedIn(wanted))
  const shown = of(shownBy(7, facts))
  const asked = of(blocking(ledger, facts, shown, () => true))
  const decision = { does: 'approve', run: 7, by: 'bo', at: NOW, reason: '' } as const
  const chosen = of(chosenKeys(asked, { ...decision, selection: { isAll: true } }, shown))
  of(chosenKeys(asked, { ...decision, selection: { only: ['creates', 'updates'] } }, shown))
  const after = of(decided(asked, { ...decision, selection: {} }, chosen))
  of(
    afterRead(of(afterApplying(after, facts, (key) => facts.left.has(key))), facts, {
      run: 7,
      isComplete: true,
    }),
  )
  const end = ended('applied', { user: [...wanted.absent.user].slice(0, 1) })
  for (const moment of [BEGUN, end])
    for (const check of Object.values(CHECKS).flat())
      if (check.next !== undefined) of(check.next(facts, moment))
  of(judge(CHECKS.guards, of(within(proved, { user: new Set(half), group: new Set() }))))
  return { most, all, facts, plan, blocked, after }
}

const half = ids.slice(0, PEOPLE / 2)

test.each<[string, readonly UserEntry[], readonly DirectoryUser[]]>([
  ['new', people, []],
  ['renamed', people, renamed],
  ['gone', [], had],
])('no step of a run in which all users are %s handles more than a part of them', (_, want, have) => {
  const first = measureRun(inputsOf(want, have))
  expect(first.plan.length + first.blocked.length).toBe(PEOPLE)
  expect(first.most).toBeLessThan(MOST_READS)
  expect(first.all).toBeGreaterThan(PEOPLE)
  const approved = measureRun(inputsOf(want, have), { ledger: first.after })
  expect(approved.plan.length).toBe(PEOPLE)
  expect(approved.most).toBeLessThan(MOST_READS)
})

test.each<[string, Listed]>([
  ['gone', { source: [], directory: ids }],
  ['half of them others', { source: ids, directory: half }],
])(
  'no step of a run for a group of all users, with the members %s, handles more than a part',
  (_, members) => {
    const { most, all, plan, blocked } = measureRun(inputsOf(people, had, members))
    expect(plan.length + blocked.length).toBe(1)
    expect(most).toBeLessThan(MOST_READS)
    expect(all).toBeGreaterThan(PEOPLE)
  },
)

test('no step of a run in which all users are in the grace period handles more than a part of them', () => {
  const grace = { deleteAfter: { user: { runs: 3 } }, confirmAfterMs: undefined }
  const { most, facts } = measureRun(inputsOf([], had), { grace })
  expect(facts.blocks.map(({ code }) => code)).toContain('grace')
  expect(most).toBeLessThan(MOST_READS)
})

test('no step of a run in which each of all users gets the e-mail of the next one handles more than a part', () => {
  const next = ids.map((id, place) => wantUser(id, `Name ${id}`, `${ids[(place + 1) % PEOPLE]}@example.org`))
  const { most, plan, blocked } = measureRun(inputsOf(next, had))
  expect(plan.length + blocked.length).toBe(PEOPLE)
  expect(most).toBeLessThan(MOST_READS)
})

/** Every group loses one of two members, lists its members in one attribute less, and lacks a nested group. */
function losingGroups(): Snapshots {
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
    source: sourceOf([wantUser('u0'), wantUser('u1')], groups, { lists }),
    directory: directoryOf(
      [haveUser('u0'), haveUser('u1')],
      ids.map((id) => haveGroup(id, id, ['u0', 'u1'])),
    ),
  }
}

test('no step of a run in which all groups lose a member handles more than a part of them', () => {
  const { facts } = measureRun(losingGroups())
  expect(facts.blocks.map(({ code }) => code)).toContain('max-deletes-memberships')
})

/** All that the recheck of groups works out between its requests. */
function* rechecked(
  now: MembersNow,
  losing: readonly Parameters<typeof judgeLoss>[0][],
): Steps<readonly LossLook[]> {
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
function recheckOf(groups: readonly string[], members: readonly string[], found = members) {
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
    found.map((id) => [id, { state: 'present', entries: [entryNow(id, 'user')] }] as const),
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

const eachPlace: Places['each'] = (visit) => forEachInSteps(ids, (id) => visit(id, 'ou=all,dc=org'))
const nobody: Places['each'] = () => forEachInSteps([], () => undefined)

test('no step of a look at the containers of all people handles more than a part of them', () => {
  const before = measure(takeBaseline(eachPlace)).result
  expect([...measure(findEmptied(before, nobody, ids)).result.keys()]).toEqual(['ou=all,dc=org'])
  measure(takeBaseline(nobody, { absent: ids, before }))
})
