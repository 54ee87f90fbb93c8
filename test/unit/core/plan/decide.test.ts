import { expect, test } from 'vitest'
import { atOnce } from '../../../../src/base/steps.ts'
import {
  type BreachSummary,
  choices,
  countUndecided,
  decidedChanges,
  type Decision,
  holdAfter,
  type RecordedBreach,
} from '../../../../src/core/plan/decide.ts'

const LOW: RecordedBreach = {
  code: 'max-moved-ids',
  params: { users: 2, limit: 1 },
  changes: ['a', 'b'],
}
const HIGH: RecordedBreach = { code: 'members-gone', params: { before: 2 }, changes: ['b', 'c'] }
const GUARDS = { low: LOW, high: HIGH }

type Decided = readonly [Decision, guard: keyof typeof GUARDS]

/** What each of these decisions on a plan that guards hold decides about, and what becomes of the hold. */
function decideOneByOne(decisions: readonly Decided[]) {
  let breaches: readonly RecordedBreach[] = [LOW, HIGH]
  const made = new Map<string, Decision>()
  let hold: 'open' | Decision = 'open'
  for (const [decision, name] of decisions) {
    const before = { state: 'held', hold, breaches }
    const chosen = choices(before, decision, true).filter(({ code }) => code === GUARDS[name].code)
    for (const change of atOnce(decidedChanges(before, decision, chosen))) made.set(change, decision)
    breaches = breaches.map((breach) => (chosen.includes(breach) ? { ...breach, decided: decision } : breach))
    hold = atOnce(holdAfter({ state: 'held', hold, breaches }, (change) => made.has(change)))
  }
  return { hold, made: Object.fromEntries([...made].toSorted()) }
}

test.each<[string, Decided[], ReturnType<typeof decideOneByOne>]>([
  [
    'a change that another guard holds too waits for that one',
    [['approved', 'low']],
    { hold: 'open', made: { a: 'approved' } },
  ],
  [
    'and is approved with it',
    [
      ['approved', 'low'],
      ['approved', 'high'],
    ],
    { hold: 'approved', made: { a: 'approved', b: 'approved', c: 'approved' } },
  ],
  [
    'a rejection wins over an earlier approval',
    [
      ['approved', 'low'],
      ['rejected', 'high'],
    ],
    { hold: 'rejected', made: { a: 'approved', b: 'rejected', c: 'rejected' } },
  ],
  [
    'an approval is taken back while another guard holds the plan',
    [
      ['approved', 'low'],
      ['rejected', 'low'],
    ],
    { hold: 'open', made: { a: 'rejected', b: 'rejected' } },
  ],
  [
    'and over a later one',
    [
      ['rejected', 'high'],
      ['approved', 'low'],
    ],
    { hold: 'rejected', made: { a: 'approved', b: 'rejected', c: 'rejected' } },
  ],
  [
    'until it is approved after all',
    [
      ['rejected', 'high'],
      ['approved', 'low'],
      ['approved', 'high'],
    ],
    { hold: 'approved', made: { a: 'approved', b: 'approved', c: 'approved' } },
  ],
])('%s', (_, decisions, expected) => {
  expect(decideOneByOne(decisions)).toEqual(expected)
})

test('whoever rejects a held plan rejects what was approved of it, too, and of a plan that was applied only what waits', () => {
  const breaches = [{ ...LOW, decided: 'approved' as const }, HIGH]
  const found = breaches.map((breach) => ({ ...breach, waitsFor: 'person' as const }))
  const held = choices({ state: 'held', hold: 'open', breaches }, 'rejected', false)
  const done = choices({ state: 'done', hold: 'open', breaches: found }, 'rejected', false)
  expect([held, done].map((chosen) => chosen.map(({ code }) => code))).toEqual([
    [LOW.code, HIGH.code],
    [HIGH.code],
  ])
})

test('a guard whose changes are all decided keeps no hold open', () => {
  const all = { ...HIGH, changes: ['a', 'b', 'c'], decided: 'rejected' } as const
  const hold = { state: 'held', hold: 'open', breaches: [all, LOW] }
  expect(atOnce(holdAfter(hold, (change) => all.changes.includes(change as 'a')))).toBe('rejected')
})

test('only what waits and has changes can be decided on', () => {
  const found = { ...HIGH, waitsFor: 'better-read' } as const
  const breaches = [LOW, found, { ...found, changes: [] }]
  const chosen = (state: string) => choices({ state, hold: 'open', breaches }, 'approved', true)
  expect(chosen('done')).toEqual([found])
  expect(chosen('held')).toEqual([LOW])
})

test('a change that several findings name is one change to decide on, and a server none', () => {
  const waitsFor = 'person' as const
  const [low, high] = [LOW, HIGH].map((breach) => ({ ...breach, changes: 2, waitsFor }))
  const server: BreachSummary = {
    code: 'server-not-newer',
    params: {
      how: 'older',
      server: 'dc2',
      last: 'dc1',
      difference: { key: 'usn', known: '2', seen: '1' },
      since: '2026-03-10T12:00:00.000Z',
      until: '2026-03-11T12:00:00.000Z',
      needsApproval: true,
    },
    changes: 1,
    waitsFor,
  }
  const groups = [[0], [0, 1], [1], [2]].map((breaches) => ({ breaches, count: 1 }))
  expect(countUndecided({ state: 'done', breaches: [low!, high!, server] }, groups)).toBe(3)
  const decided = { ...low!, decided: 'approved' as const }
  expect(countUndecided({ state: 'done', breaches: [decided, high!, server] }, groups)).toBe(2)
})
