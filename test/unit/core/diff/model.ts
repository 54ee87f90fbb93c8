import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DirectoryUser } from '../../../../src/core/entries/entry.ts'
import { canonicalEmail } from '../../../../src/core/entries/normalize.ts'
import { byCodeUnit } from '../../../../src/base/order.ts'
import type { Key } from '../../../../src/core/keys.ts'
import { PHASES, type PlannedChange } from '../../../../src/core/plan/changes.ts'
import {
  directoryOf,
  type Given,
  type Plan,
  plainOf,
  planOf,
  refusing,
  rejecting,
  sourceOf,
} from './build.ts'

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']
const X = 'x.org'
const email = fc.option(
  fc.constantFrom(`1@${X}`, `2@${X}`, `3@${X}`, `4@${X}`, `1@${X.toUpperCase()}`, ` 2@${X}`, 'q@other.net'),
  { nil: undefined },
)
const person = fc.record({ id: fc.constantFrom(...IDS), email, name: fc.constantFrom('Ana', 'Bo') })
const people = fc.uniqueArray(person, { selector: ({ id }) => id })
const none: string[] = []
const few = (most: number) => fc.oneof(fc.constant(none), fc.subarray(IDS, { maxLength: most }))

/** Both sides, what the sync may do, and what the service thinks of it. */
const world = fc.record({
  want: people,
  have: people,
  /** In the source, and of no use. */
  unusable: few(3),
  exclude: few(2),
  shielded: few(2),
  rejected: few(1),
  /** Whatever is done to them is refused. */
  refused: few(2),
  policy: fc.constantFrom('mirror' as const, 'mirror' as const, 'upsert' as const, 'create-only' as const),
  emails: fc.constantFrom('unique' as const, 'unique' as const, 'shared' as const),
  allowedDomains: fc.constantFrom(none, [X]),
  dropBadEmails: fc.boolean(),
  unreadable: fc.constantFrom(0, 0, 0, 1),
  /** Whether the service allows each e-mail once. */
  isStrict: fc.boolean(),
  order: fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
})
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never

/** What operators and the service said before. */
interface Before {
  readonly rejected: readonly Key[]
  readonly refused: readonly PlannedChange[]
}

/** The list in an order that the world decides. */
function shuffled<T>({ order }: World, list: readonly T[], turn: number): T[] {
  const rank = (index: number): number =>
    ((order[(index + turn) % order.length] ?? 0) * (index + turn + 7)) % 101
  return list
    .map((item, index) => ({ item, rank: rank(index) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}

function planIn(given: World, have: readonly DirectoryUser[], before: Before, turn: number): Plan {
  const { policy, allowedDomains, dropBadEmails, emails, exclude, shielded } = given
  const users = given.want
    .filter(({ id }) => !given.unusable.includes(id))
    .map((user) => ({ ...user, employeeId: undefined, from: `place of ${user.id}` }))
  const seen = { user: new Set([...users.map(({ id }) => id), ...given.unusable]), group: new Set<string>() }
  const entries = { users: { exclude, protected: shielded } }
  const more: Given = {
    ...rejecting(before.rejected),
    ...refusing(before.refused),
    rules: { policy, membership: 'write', allowedDomains, dropBadEmails, emails, entries },
  }
  const source = sourceOf(shuffled(given, users, turn), [], { seen, unreadable: given.unreadable })
  return planOf(source, directoryOf(shuffled(given, have, turn)), more)
}

/** Does one change as the service would, and says whether it was done. */
function send(given: World, users: Map<string, DirectoryUser>, { change }: PlannedChange): boolean {
  if (given.refused.includes(change.id)) return false
  if (change.op === 'delete-user') return users.delete(change.id)
  if (change.op !== 'create-user' && change.op !== 'update-user') return true
  const mail = canonicalEmail(change.want.email ?? '')
  const owners = [...users.values()].filter((user) => canonicalEmail(user.email ?? '') === mail)
  if (given.isStrict && mail !== '' && owners.some(({ id }) => id !== change.id)) return false
  const before = users.get(change.id) ?? { id: change.id, name: null, email: null }
  users.set(change.id, { ...before, ...change.want })
  return true
}

/** Phase by phase, in any order within; what waits for an e-mail is tried once more at the end. */
function applyIn(given: World, plan: Plan, have: readonly DirectoryUser[], turn: number) {
  const users = new Map(have.map((user) => [user.id, user]))
  let later: PlannedChange[] = []
  const refused: PlannedChange[] = []
  for (const isEnd of [false, true]) {
    const list = isEnd ? later : [...plan.changes]
    later = []
    for (const phase of PHASES) {
      for (const planned of shuffled(given, list, turn).filter((each) => each.phase === phase)) {
        if (send(given, users, planned)) continue
        if (!isEnd && 'takes' in planned.change) later.push(planned)
        else refused.push(planned)
      }
    }
  }
  return { after: [...users.values()].toSorted((a, b) => byCodeUnit(a.id, b.id)), refused }
}

/** A service that allows each e-mail once begins with each e-mail once. */
function startOf({ have, isStrict }: World): DirectoryUser[] {
  const taken = new Set<string>()
  return have.map(({ id, name, email: mail }) => {
    const canonical = canonicalEmail(mail ?? '')
    const isFree = !isStrict || !taken.has(canonical)
    taken.add(canonical)
    return { id, name, email: isFree ? (mail?.trim() ?? null) : null }
  })
}

const NOTHING: Before = { rejected: [], refused: [] }

function rejectedIn(given: World, have: readonly DirectoryUser[]): readonly Key[] {
  const { changes, facts } = planIn(given, have, NOTHING, 0)
  const ids = [...changes].map(({ change }) => change.id).filter((id) => given.rejected.includes(id))
  return ids.flatMap((id) => [...facts.wanted.keysOf('user', id)])
}

/** Runs until a run has nothing to do, as a daemon would; a run forgets what no plan wants any more. */
function settle(given: World): { have: readonly DirectoryUser[]; plan: Plan } {
  let have: readonly DirectoryUser[] = startOf(given)
  let before: Before = { ...NOTHING, rejected: rejectedIn(given, have) }
  for (let turn = 0; turn < 30; turn += 1) {
    const plan = planIn(given, have, before, turn)
    expect(plainOf(planIn(given, have, before, turn + 1))).toEqual(plainOf(plan))
    for (const { change } of plan.changes) expect(given.exclude).not.toContain(change.id)
    if (plan.changes.length === 0) return { have, plan }
    const { after, refused } = applyIn(given, plan, have, turn)
    const { wanted } = plan.facts
    before = {
      rejected: before.rejected.filter((key) => wanted.has(key)),
      refused: [...before.refused, ...refused],
    }
    have = after
  }
  throw new Error('the runs do not come to an end')
}

const EXCUSED = new Set(['excluded', 'quarantine', 'rejected', 'email-not-allowed', 'policy'])

export function testModel(numRuns: number): void {
  test('whatever lists, people and the service say, runs come to an end, and who differs is named', () => {
    fc.assert(
      fc.property(world, (given) => {
        const { have, plan } = settle(given)
        const codesOf = (id: string): string[] => [
          ...plan.notices.filter((each) => each.id === id).map(({ code }) => code),
          ...plan.blocked.filter(({ change }) => change.id === id).flatMap(({ codes }) => codes),
        ]
        const isCircle = plan.blocked.some(({ change }) => 'takes' in change)
        const kept = new Map(have.map((user) => [user.id, user]))
        const isMirror = given.policy === 'mirror' && given.unreadable === 0
        const present = new Set([...given.want.map(({ id }) => id), ...given.unusable, ...given.shielded])
        for (const { id } of given.have) if (!isMirror || present.has(id)) expect(kept.has(id)).toBe(true)
        for (const { id, name, email: mail } of given.want.filter(
          (each) => !given.unusable.includes(each.id),
        )) {
          const codes = codesOf(id)
          const isOthersFault = isCircle || (given.emails === 'shared' && given.isStrict)
          if (codes.includes('quarantine')) expect(isOthersFault || given.refused.includes(id)).toBe(true)
          if (codes.some((code) => EXCUSED.has(code))) continue
          expect(kept.has(id)).toBe(true)
          if (given.policy !== 'create-only') expect(kept.get(id)?.name).toBe(name)
          const hasEmail = canonicalEmail(kept.get(id)?.email ?? '') === canonicalEmail(mail ?? '')
          const whyNot = codes.filter((code) => code === 'duplicate-email' || code === 'email-dropped')
          if (mail !== undefined && !hasEmail) expect(whyNot).toHaveLength(1)
        }
      }),
      { numRuns },
    )
  })
}
