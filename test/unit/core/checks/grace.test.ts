import { describe, expect, test } from 'vitest'
import { grace } from '../../../../src/core/checks/grace.ts'
import { policy } from '../../../../src/core/checks/policy.ts'
import { protect } from '../../../../src/core/checks/protected.ts'
import { rejected } from '../../../../src/core/checks/rejected.ts'
import type { Absence, RunFacts, States } from '../../../../src/core/checks/check.ts'
import { unreadable } from '../../../../src/core/checks/unreadable.ts'
import {
  approving,
  BEGUN,
  blockedBy,
  blocksOf,
  directoryOf,
  ended,
  factsOf,
  HOUR,
  leftAfter,
  nextOf,
  NOW,
  ofKey,
  rejecting,
  sourceOf,
  type Given,
} from './build.ts'

const source = sourceOf(['bo', { id: 'cy', email: 'ana@example.org' }], { g: ['bo'] })
const directory = directoryOf(['ana', 'bo'], { g: ['ana', 'bo'], old: [] })
const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * HOUR)
const known = (absences: Readonly<Record<string, Absence>>): States => ({
  grace: { user: new Map(Object.entries(absences)), group: new Map() },
})

const factsWith = (rule: Partial<RunFacts['grace']>, given: Given = {}) =>
  factsOf(source, directory, { grace: { deleteAfter: {}, confirmAfterMs: undefined, ...rule }, ...given })
const TWO_HOURS: Partial<RunFacts['grace']> = { deleteAfter: { user: { ms: 2 * HOUR } } }
const CONFIRMED: Partial<RunFacts['grace']> = { confirmAfterMs: HOUR }

describe('the delete of an absent user is blocked', () => {
  test.each([
    ['never without a rule', undefined, 0, 0, undefined],
    [
      'for a time, in the first read without it',
      { ms: 2 * HOUR },
      0,
      0,
      { until: '2026-03-10T14:00:00.000Z' },
    ],
    ['for a time that is not over', { ms: 2 * HOUR }, 1, 4, { until: '2026-03-10T13:00:00.000Z' }],
    ['not after it', { ms: 2 * HOUR }, 2, 1, undefined],
    ['for three reads, in the first', { runs: 3 }, 0, 0, { reads: 2 }],
    ['for three reads, in the second', { runs: 3 }, 9, 1, { reads: 1 }],
    ['not in the third of three', { runs: 3 }, 9, 2, undefined],
    ['not for one read', { runs: 1 }, 0, 0, undefined],
  ] as const)('%s', (_, rule, hours, reads, delay) => {
    const states = reads === 0 ? {} : known({ ana: { since: hoursAgo(hours), reads } })
    const facts = factsWith({ deleteAfter: rule === undefined ? {} : { user: rule } }, { states })
    const [block] = blocksOf(grace, facts)
    expect(block?.keys).toEqual(delay && ['user ana delete'])
    const since = hoursAgo(hours).toISOString()
    expect(ofKey(block, 'user', 'ana', 'delete')).toEqual(delay && { since, ...delay })
  })

  test('and no other: groups have a rule of their own', () => {
    expect(blockedBy(grace, factsWith({ deleteAfter: { group: { runs: 2 } } }))).toEqual(['group old delete'])
  })

  test('it leaves its groups at once and keeps its e-mail', () => {
    const left = leftAfter(grace, factsWith(TWO_HOURS))
    expect(left).toEqual(
      expect.arrayContaining([
        'user ana leave',
        'group g -member ana',
        'user cy create',
        'user cy name Name cy',
      ]),
    )
    expect(left).not.toContain('user ana delete')
    expect(left).not.toContain('user cy email ana@example.org')
  })

  test('until an approval of the delete', () => {
    const ledger = approving('grace', ['user', 'ana', 'delete'])
    const left = leftAfter(grace, factsWith(TWO_HOURS, { ledger }))
    expect(left).toEqual(expect.arrayContaining(['user ana delete', 'user cy email ana@example.org']))
  })
})

describe('where the server does not show how new its data is, a second read has to lack the user', () => {
  test.each([
    ['the first read without it', 0, 0, '2026-03-10T13:00:00.000Z'],
    ['a second read that comes too early', 0.5, 1, '2026-03-10T12:30:00.000Z'],
    ['a second read that is late enough', 1, 1, undefined],
  ])('%s', (_, hours, reads, until) => {
    const states = reads === 0 ? {} : known({ ana: { since: hoursAgo(hours), reads } })
    const rule = { ...CONFIRMED, deleteAfter: {} }
    const [block] = blocksOf(grace, factsWith({ ...rule, deleteAfter: { group: { runs: 1 } } }, { states }))
    const since = hoursAgo(hours).toISOString()
    const isOpen = until !== undefined
    expect(ofKey(block, 'user', 'ana', 'leave')).toEqual(isOpen ? { since, until } : undefined)
  })

  test('also where no time has to pass between the two', () => {
    expect(blockedBy(grace, factsWith({ confirmAfterMs: 0 }))).toEqual(['user ana leave', 'group old delete'])
  })

  test('and it keeps its memberships, also in the grace period', () => {
    const facts = factsWith({ ...CONFIRMED, ...TWO_HOURS })
    expect(blocksOf(grace, facts)).toMatchObject([
      { code: 'absence-unconfirmed', until: 'time', keys: ['user ana leave', 'group old delete'] },
    ])
    expect(leftAfter(grace, facts)).not.toContain('group g -member ana')
  })

  test('then the grace period goes on', () => {
    const states = known({ ana: { since: hoursAgo(1), reads: 1 } })
    expect(blocksOf(grace, factsWith({ ...CONFIRMED, ...TWO_HOURS }, { states }))).toMatchObject([
      { code: 'grace', keys: ['user ana delete'] },
      { code: 'absence-unconfirmed', keys: ['group old delete'] },
    ])
  })
})

describe('the next run knows', () => {
  const BEFORE = { since: hoursAgo(1), reads: 1 }
  const states = known({ ana: BEFORE, bo: BEFORE })
  const usersAfter = (given: Given, moment = ended('applied')) =>
    Object.fromEntries(nextOf(grace, factsWith(TWO_HOURS, { states, ...given }), moment).grace?.user ?? [])

  test('with the plan only who is there again', () => {
    expect(usersAfter({}, BEGUN)).toEqual({ ana: BEFORE })
    expect(usersAfter({ states: {} }, BEGUN)).toEqual({})
    expect(usersAfter({ found: { user: { ana: 'present' } } }, BEGUN)).toEqual({})
  })

  test.each(['applied', 'held', 'failed'] as const)('one read more after a run that ended as %s', (end) => {
    expect(usersAfter({}, ended(end))).toEqual({ ana: { since: BEFORE.since, reads: 2 } })
    expect(usersAfter({ states: {} }, ended(end))).toEqual({ ana: { since: NOW, reads: 1 } })
  })

  test('for 90 days, of users that neither side shows, because a list may lack one once', () => {
    const left = { since: hoursAgo(24 * 89), reads: 4 }
    const given = { states: known({ left, old: { since: hoursAgo(24 * 91), reads: 4 } }) }
    expect(usersAfter(given)).toEqual({ ana: { since: NOW, reads: 1 }, left })
    expect(usersAfter(given, ended('applied', { user: ['left'] }))).toEqual({ ana: { since: NOW, reads: 1 } })
    expect(usersAfter(given, BEGUN)).toEqual({})
  })

  test('nothing of users that were deleted or found again', () => {
    expect(usersAfter({}, ended('applied', { user: ['ana'] }))).toEqual({})
    expect(usersAfter({ found: { user: { ana: 'present' } } })).toEqual({})
  })

  test.each<[string, Given]>([
    ['an unreadable entry', { after: [[unreadable]] }],
    ['the policy', { rules: { policy: 'upsert' }, after: [[policy]] }],
    ['a list', { rules: { entries: { users: { protected: ['ana'] } } }, after: [[protect]] }],
    ['a rejection', { ledger: rejecting(['user', 'ana', 'delete']), after: [[rejected]] }],
  ])('of users that %s keeps what it knew before, without another read', (why, given) => {
    const unread = sourceOf([], { g: ['bo'] }, { unreadable: 1 })
    const of = (each: Given) =>
      why === 'an unreadable entry'
        ? factsOf(unread, directory, { grace: { deleteAfter: {}, confirmAfterMs: undefined }, ...each })
        : factsWith(TWO_HOURS, each)
    const after = (kept: States) =>
      nextOf(grace, of({ states: kept, ...given }), ended('applied')).grace?.user.get('ana')
    expect(after(states)).toEqual(BEFORE)
    expect(after({})).toBeUndefined()
  })
})
