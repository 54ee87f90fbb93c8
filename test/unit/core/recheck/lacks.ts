import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import { atOnce } from '../../../../src/base/steps.ts'
import { asked } from '../../../../src/core/checks/asked.ts'
import { CHECKS } from '../../../../src/core/checks/checks.ts'
import type { RunFacts, States } from '../../../../src/core/checks/check.ts'
import { afterRead, blocking } from '../../../../src/core/ledger.ts'
import { shownBy } from '../../../../src/core/decide.ts'
import { EMPTY_LEDGER, type Ledger } from '../../../../src/core/decisions.ts'
import { isEmpty } from '../../../../src/core/keys.ts'
import type { DirectoryGroup, DirectoryUser } from '../../../../src/core/entries/entry.ts'
import type { LossLook, Sighting } from '../../../../src/core/entries/recheck.ts'
import type { SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import { judge } from '../../../../src/core/judge.ts'
import { order } from '../../../../src/core/order.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import { refuseIncompleteRead } from '../../../../src/core/plan/incomplete-read.ts'
import { Collector } from '../../../../src/source/collect.ts'
import { compileOptions } from '../../../../src/source/ldap/compile.ts'
import { Records } from '../../../../src/source/ldap/records.ts'
import { snapshotOf } from '../../../../src/source/ldap/snapshot-of.ts'
import { ReadUsers } from '../../../../src/source/ldap/users.ts'
import { PROFILES } from '../../../../src/source/ldap/vendor.ts'
import { ldapEntry } from '../../../support/ldap-entry.ts'
import { BEGUN, ended, factsOf, nextOf } from '../checks/build.ts'
import { directoryOf } from '../diff/build.ts'

/** What the company's LDAP really holds: who is in which unit, and in which groups. */
interface Truth {
  readonly units: Map<string, string>
  readonly groups: Map<string, Set<string>>
}

/** What one read does not show. */
interface Lack {
  /** Units that the reader may not see any more; the server answers success and nothing. */
  readonly units: readonly string[]
  /** Groups whose member attribute the reader may not see any more. */
  readonly groups: readonly string[]
  /** Users that only the first look misses, as with a page that was lost. */
  readonly missed: readonly string[]
  /** Users who are renamed after the users are read and before the groups are. */
  readonly renamed: readonly string[]
  /** Users who can be seen in spite of that, in their units and groups. */
  readonly shown: readonly string[]
}

const PLACE = { base: 'dc=org', scope: 'sub', filter: '(cn=*)' } as const
const COMPILED = compileOptions(
  {
    url: 'ldap://localhost',
    tls: { startTls: false },
    pageSize: 100,
    timeouts: { connectMs: 1, answerMs: 1 },
    users: { ...PLACE, map: { external_id: 'cn', email: 'mail', name: 'cn' } },
    groups: { ...PLACE, map: { external_id: 'cn', name: 'cn', members: 'member' } },
  },
  PROFILES['389ds'],
)

const READ = { run: 1, isComplete: true }

function isHidden({ units }: Truth, lack: Lack, id: string): boolean {
  return lack.units.includes(units.get(id) ?? '') && !lack.shown.includes(id)
}

function listOf({ groups }: Truth, lack: Lack, group: string): readonly string[] {
  const members = [...(groups.get(group) ?? [])]
  return lack.groups.includes(group) ? members.filter((id) => lack.shown.includes(id)) : members
}

function dnOf(id: string, unit: string, isRenamed = false): string {
  return `uid=${id}${isRenamed ? '-renamed' : ''},ou=${unit},ou=people,dc=org`
}

/** The first look, through the real image. */
function look(truth: Truth, lack: Lack): SourceSnapshot {
  const { units, groups } = truth
  const records = new Records(COMPILED)
  const users = new ReadUsers(new Collector(), COMPILED.users.map.id, records.listed)
  const visible = [...units].filter(([id]) => !isHidden(truth, lack, id) && !lack.missed.includes(id))
  for (const [id, unit] of visible) {
    const entry = ldapEntry(dnOf(id, unit), { cn: [id], mail: [`${id}@example.org`] })
    users.add(records.userOf(entry, undefined))
  }
  const listed = [...groups.keys()].map((id) => {
    const member = listOf(truth, lack, id).map((user) =>
      dnOf(user, units.get(user) ?? '', lack.renamed.includes(user)),
    )
    return records.groupOf(ldapEntry(`cn=${id},ou=groups,dc=org`, { cn: [id], member }), users)
  })
  return atOnce(snapshotOf({ users, groups: listed, others: [] }, COMPILED))
}

/** The second look has the rights of the first one, and misses no page. */
function lookAgain(truth: Truth, lack: Lack, ids: readonly string[]): Map<string, Sighting> {
  const isSeen = (id: string): boolean => truth.units.has(id) && !isHidden(truth, lack, id)
  return new Map(ids.map((id) => [id, isSeen(id) ? 'present' : 'absent']))
}

function lookAtLosses(
  truth: Truth,
  lack: Lack,
  losses: ReadonlyMap<string, readonly string[]>,
): Map<string, LossLook> {
  const looks = [...losses].map(([group, users]) => {
    const listed = listOf(truth, lack, group)
    return [group, { stillMembers: users.filter((user) => listed.includes(user)) }] as const
  })
  return new Map(looks)
}

/** What one sync keeps for its next run, and the directory that it writes to. */
interface World {
  users: Map<string, DirectoryUser>
  groups: Map<string, DirectoryGroup>
  states: States
  ledger: Ledger
  /** The units and groups that the run before did not show, or not whole. */
  lacked: Pick<Lack, 'units' | 'groups'>
  /** The unit in which the last complete run saw each user. */
  readonly places: Map<string, string>
}

/** One run; returns what it blocked, or that it failed. */
function run(world: World, truth: Truth, lack: Lack): string[] {
  const source = look(truth, lack)
  const directory = directoryOf([...world.users.values()], [...world.groups.values()])
  const bare = factsOf(source, directory, { states: world.states, ledger: world.ledger })
  const { absent } = bare.wanted
  const entries = {
    user: lookAgain(truth, lack, [...absent.user]),
    group: new Map([...absent.group].map((id) => [id, truth.groups.has(id) ? 'present' : 'absent'] as const)),
  }
  try {
    refuseIncompleteRead(source, entries)
  } catch (error) {
    if (error instanceof DirsyncdError) return [error.code]
    throw error
  }
  const ruled = atOnce(judge(CHECKS.rules, bare))
  const removals = lookAtLosses(truth, lack, removedIn(ruled))
  const proved = atOnce(judge(CHECKS.anomalies, { ...ruled, rechecks: { entries, removals } }))
  const facts = atOnce(judge<RunFacts>([asked], proved))
  const changes = Array.from(atOnce(order(facts.left, () => 'gone')), ({ change }) => change)
  apply(world, changes)
  const deleted = (op: Change['op']) => changes.filter((each) => each.op === op).map(({ id }) => id)
  const end = ended('applied', { user: deleted('delete-user'), group: deleted('delete-group') })
  const shown = atOnce(shownBy(1, facts))
  world.ledger = atOnce(afterRead(atOnce(blocking(world.ledger, facts, shown, () => true)), facts, READ))
  for (const moment of [BEGUN, end])
    for (const check of [...CHECKS.rules, ...CHECKS.anomalies])
      world.states = { ...world.states, ...nextOf(check, { ...facts, states: world.states }, moment) }
  world.lacked = {
    units: lack.units.filter((name) =>
      [...world.users.keys()].some((id) => truth.units.get(id) === name && isHidden(truth, lack, id)),
    ),
    groups: lack.groups.filter((id) =>
      world.groups
        .get(id)
        ?.members.some((user) => !listOf(truth, lack, id).includes(user) && source.seen.user.has(user)),
    ),
  }
  for (const [id, unit] of truth.units) if (source.seen.user.has(id)) world.places.set(id, unit)
  return facts.blocks.filter(({ keys }) => !isEmpty(keys)).map(({ code }) => code)
}

function removedIn({ left, wanted }: RunFacts): ReadonlyMap<string, readonly string[]> {
  const removed = new Map<string, readonly string[]>()
  for (const id of wanted.members.keys()) {
    const { removed: some } = atOnce(left.membersIn(id))
    const there = some.filter((user) => !left.has(['user', user, 'delete']))
    if (there.length > 0) removed.set(id, there)
  }
  return removed
}

function apply({ users, groups }: World, changes: readonly Change[]): void {
  for (const change of changes) {
    const { id } = change
    switch (change.op) {
      case 'create-user':
        users.set(id, { id, email: change.want.email ?? null, name: change.want.name ?? null })
        break
      case 'update-user':
        users.set(id, { ...change.have, id, ...change.want })
        break
      case 'delete-user':
        users.delete(id)
        for (const group of groups.values())
          groups.set(group.id, { ...group, members: group.members.filter((member) => member !== id) })
        break
      case 'create-group':
      case 'update-group':
        groups.set(id, { id, name: change.want.name, members: groups.get(id)?.members ?? [] })
        break
      case 'delete-group':
        groups.delete(id)
        break
      case 'set-members':
        groups.set(id, { id, name: change.name, members: change.want })
        break
    }
  }
}

const UNITS = ['a', 'b', 'c', 'd']
const GROUPS = ['g0', 'g1', 'g2']
const PEOPLE = Array.from({ length: 40 }, (_, n) => `u${n}`)
const NOTHING: Lack = { units: [], groups: [], missed: [], renamed: [], shown: [] }

const person = fc.constantFrom(...PEOPLE)
const unit = fc.constantFrom(...UNITS)
const group = fc.constantFrom(...GROUPS)
const happening = fc.oneof(
  fc.record({ what: fc.constant('join' as const), id: person, unit }),
  fc.record({ what: fc.constant('move' as const), id: person, unit }),
  fc.record({ what: fc.constant('leave' as const), id: person }),
  fc.record({ what: fc.constant('enter' as const), id: person, group }),
  fc.record({ what: fc.constant('quit' as const), id: person, group }),
)
const anyLack = fc.record({
  units: fc.subarray(UNITS, { maxLength: 2 }),
  groups: fc.subarray(GROUPS, { maxLength: 2 }),
  missed: fc.oneof(fc.constant([]), fc.subarray(PEOPLE, { maxLength: 3 }), fc.subarray(PEOPLE)),
  renamed: fc.subarray(PEOPLE, { maxLength: 4 }),
  shown: fc.oneof(fc.constant([]), fc.subarray(PEOPLE)),
})
const round = fc.record({ happenings: fc.array(happening, { maxLength: 12 }), lack: anyLack })
const beginning = fc.record({
  units: fc.array(unit, { minLength: PEOPLE.length, maxLength: PEOPLE.length }),
  members: fc.tuple(...GROUPS.map(() => fc.subarray(PEOPLE, { minLength: 5 }))),
})

type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never

function begin({ units, members }: { units: readonly string[]; members: readonly (readonly string[])[] }) {
  const truth: Truth = {
    units: new Map(PEOPLE.map((id, index) => [id, units[index] ?? 'a'])),
    groups: new Map(GROUPS.map((id, index) => [id, new Set(members[index])])),
  }
  const world: World = {
    users: new Map(),
    groups: new Map(),
    states: {},
    ledger: EMPTY_LEDGER,
    lacked: NOTHING,
    places: new Map(),
  }
  run(world, truth, NOTHING)
  return { truth, world }
}

function happen({ units, groups }: Truth, event: Happening): void {
  const { id } = event
  switch (event.what) {
    case 'join':
    case 'move':
      if ((event.what === 'join') !== units.has(id)) units.set(id, event.unit)
      break
    case 'leave':
      units.delete(id)
      for (const members of groups.values()) members.delete(id)
      break
    case 'enter':
      if (units.has(id)) groups.get(event.group)?.add(id)
      break
    case 'quit':
      groups.get(event.group)?.delete(id)
      break
  }
}

/** Who is there, and who is in which group: as lines, so that a difference names itself. */
function linesOf(
  users: Iterable<string>,
  groups: Iterable<readonly [string, Iterable<string>]>,
): Set<string> {
  const lines = new Set<string>()
  for (const id of users) lines.add(`user ${id}`)
  for (const [id, members] of groups) for (const member of members) lines.add(`${member} in ${id}`)
  return lines
}

function directoryLines({ users, groups }: World): Set<string> {
  return linesOf(
    users.keys(),
    [...groups].map(([id, { members }]) => [id, members] as const),
  )
}

function truthLines({ units, groups }: Truth): Set<string> {
  return linesOf(units.keys(), groups)
}

/**
 * A lack that nobody can see: both looks miss fewer than five of a unit or a group, or only some of them where the run
 * before did not miss all, or somebody who was not in the unit in the last good run.
 */
function isTooSmall(world: World, truth: Truth, lack: Lack): boolean {
  const { users, groups, places, lacked } = world
  const hidden = [...users.keys()].filter((id) => lack.units.includes(truth.units.get(id) ?? ''))
  if (hidden.some((id) => places.get(id) !== truth.units.get(id))) return true
  const shownIn = new Set(lack.shown.map((id) => truth.units.get(id)))
  const newUnits = Map.groupBy(hidden, (id) => truth.units.get(id) ?? '')
  for (const name of lacked.units) newUnits.delete(name)
  const newGroups = lack.groups.filter((id) => !lacked.groups.includes(id))
  return (
    [...newUnits].some(([name, { length }]) => length < 5 || shownIn.has(name)) ||
    newGroups.some((id) => (groups.get(id)?.members.length ?? 0) < 5 || listOf(truth, lack, id).length > 0)
  )
}

export function testLacks(runs: { readonly lacking: number; readonly settled: number }): void {
  test('nothing that the source really has is taken away, whatever a read lacks', () => {
    fc.assert(
      fc.property(
        beginning,
        fc.array(round, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (start, rounds, lasts) => {
          const { truth, world } = begin(start)
          for (const [index, { happenings, lack: newLack }] of rounds.entries()) {
            const shown = index === 0 ? [] : newLack.shown
            const lack = lasts ? { ...(rounds[0]?.lack ?? NOTHING), shown } : newLack
            for (const each of happenings) happen(truth, each)
            if (isTooSmall(world, truth, lack)) continue
            const before = directoryLines(world)
            const real = truthLines(truth)
            run(world, truth, lack)
            const after = directoryLines(world)
            const lost = [...before].filter((line) => real.has(line) && !after.has(line))
            expect(lost).toEqual([])
          }
        },
      ),
      { numRuns: runs.lacking },
    )
  })

  test('once a read lacks nothing, the directory is as the source and nothing waits', () => {
    const few = fc.array(happening, { maxLength: 12 })
    fc.assert(
      fc.property(beginning, fc.array(round, { maxLength: 2 }), few, (start, rounds, last) => {
        const { truth, world } = begin(start)
        for (const { happenings, lack } of rounds) {
          for (const each of happenings.filter(({ what }) => what !== 'leave' && what !== 'quit'))
            happen(truth, each)
          run(world, truth, lack)
        }
        run(world, truth, NOTHING)
        expect(directoryLines(world)).toEqual(truthLines(truth))
        // At most four leave a unit, and a group keeps somebody.
        for (const each of last.slice(0, 4)) happen(truth, each)
        if ([...truth.groups.values()].some((members) => members.size === 0)) return
        expect(run(world, truth, NOTHING)).toEqual([])
        expect(directoryLines(world)).toEqual(truthLines(truth))
      }),
      { numRuns: runs.settled },
    )
  })
}
