import { describe, expect, test } from 'vitest'
import { forEachInSteps } from '../../../../src/base/steps.ts'
import { containerEmptied } from '../../../../src/core/checks/container-emptied.ts'
import { grace } from '../../../../src/core/checks/grace.ts'
import { rejected } from '../../../../src/core/checks/rejected.ts'
import { keyText } from '../../../../src/core/keys.ts'
import type { SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import {
  approving,
  BEGUN,
  blocksOf,
  directoryOf,
  ended,
  factsOf,
  HOUR,
  ids,
  leftAfter,
  nextOf,
  rejecting,
  sourceOf,
  statesAfter,
  type Given,
} from './build.ts'

const SALES = ids(5, 's')
const LABS = ids(2, 'l')
const ALL = [...LABS, ...SALES]

/** A read of these users, those with `s` in the OU sales, and of these groups in the OU teams. */
const ouOf = (id: string) => `ou=${id.startsWith('s') ? 'sales' : 'labs'},dc=org`

function read(users: readonly string[], groups: readonly string[] = []): SourceSnapshot {
  const everybody = Object.fromEntries([['g', users] as const, ...groups.map((id) => [id, []] as const)])
  const places = {
    user: {
      each: (visit: (id: string, ou: string) => void) => forEachInSteps(users, (id) => visit(id, ouOf(id))),
    },
    group: {
      each: (visit: (id: string, ou: string) => void) =>
        forEachInSteps(groups, (id) => visit(id, 'ou=teams,dc=org')),
    },
  }
  return sourceOf(users, everybody, { places })
}

const directory = directoryOf(ALL, { g: ALL })
const STATES = statesAfter(containerEmptied, factsOf(read(ALL), directory))
const factsWith = (users: readonly string[], given: Given = {}) =>
  factsOf(read(users), directory, { states: STATES, ...given })
const leaves = (users: readonly string[]) => users.map((id) => `user ${id} leave`)

describe('an OU that lost all its users', () => {
  test('keeps them and their memberships, and the rest is made', () => {
    const facts = factsWith([...LABS, 'new'])
    expect(blocksOf(containerEmptied, facts)).toMatchObject([
      {
        code: 'container-emptied',
        until: 'decision',
        keys: leaves(SALES),
        params: {
          kind: 'user',
          container: 'ou=sales,dc=org',
          absent: 5,
          leftFilter: 0,
          isEmpty: true,
        },
      },
    ])
    const left = leftAfter(containerEmptied, facts)
    expect(left.filter((text) => SALES.some((id) => text.includes(id)))).toEqual([])
    expect(left).toEqual(expect.arrayContaining(['user new create', 'group g +member new']))
  })

  test('keeps their memberships in the grace period, too', () => {
    const rule = { deleteAfter: { user: { ms: HOUR } }, confirmAfterMs: undefined }
    const facts = factsWith(LABS, { grace: rule, after: [[grace]] })
    expect(leftAfter(containerEmptied, facts)).toEqual([])
  })

  test('loses the users that an operator approved', () => {
    const ledger = approving('container-emptied', ['user', 's000', 'leave'])
    const left = leftAfter(containerEmptied, factsWith(LABS, { ledger }))
    expect(left).toEqual(['user s000 leave', 'user s000 delete', 'group g -member s000'])
  })

  test('asks nothing about users that an operator rejected', () => {
    const ledger = rejecting(...SALES.map((id) => ['user', id, 'leave'] as const))
    expect(blocksOf(containerEmptied, factsWith(LABS, { ledger, after: [[rejected]] }))).toEqual([])
  })

  test('counts users outside of the filter, because its attributes may be hidden, and no disabled ones', () => {
    const outside = Object.fromEntries(SALES.slice(1).map((id) => [id, 'out-of-scope' as const]))
    const [block] = blocksOf(containerEmptied, factsWith(LABS, { found: { user: outside } }))
    expect(block?.params).toMatchObject({ absent: 5, leftFilter: 4 })
    const found = { user: { s000: 'disabled' } } as const
    expect(blocksOf(containerEmptied, factsWith(LABS, { found }))[0]?.keys ?? []).not.toContain(
      'user s000 leave',
    )
  })

  test.each([
    ['still has one user', [...LABS, 's000'], STATES],
    ['was not known before', LABS, {}],
  ])('is not in doubt where it %s', (_, users, states) => {
    expect(blocksOf(containerEmptied, factsWith(users, { states }))).toEqual([])
  })

  test('stays in doubt until the decision, also for users that were shown again in between', () => {
    const asked = SALES.slice(1).map((id) => keyText(['user', id, 'leave']))
    const askingAbout = (code: string) => ({
      blocked: new Map(asked.map((text) => [text, { since: 1, asks: new Set([code]) }])),
    })
    const ledger = askingAbout('container-emptied')
    const facts = factsWith([...LABS, 's001'], { ledger })
    expect(blocksOf(containerEmptied, facts)).toMatchObject([
      {
        keys: leaves(SALES.filter((id) => id !== 's001')),
        params: { container: 'ou=sales,dc=org', isEmpty: false },
      },
    ])
    // Users of another OU who left meanwhile are no part of it.
    expect(blocksOf(containerEmptied, factsWith(['l000', 's001'], { ledger }))).toMatchObject([
      { keys: leaves(SALES.filter((id) => id !== 's001')) },
    ])
    expect(blocksOf(containerEmptied, factsWith(LABS, { ledger }))).toMatchObject([
      { keys: leaves(SALES), params: { isEmpty: true } },
    ])
    const other = askingAbout('max-deletes-users')
    expect(blocksOf(containerEmptied, factsWith([...LABS, 's001'], { ledger: other }))).toEqual([])
  })

  test('is not in doubt where it had fewer than five users', () => {
    expect(blocksOf(containerEmptied, factsWith(SALES))).toEqual([])
  })
})

test('groups of an OU are blocked by their delete', () => {
  const teams = ids(5, 't')
  const there = directoryOf(LABS, Object.fromEntries(teams.map((id) => [id, []])))
  const states = statesAfter(containerEmptied, factsOf(read(LABS, teams), there))
  expect(blocksOf(containerEmptied, factsOf(read(LABS), there, { states }))).toMatchObject([
    {
      params: { kind: 'group', container: 'ou=teams,dc=org' },
      keys: teams.map((id) => `group ${id} delete`),
    },
  ])
})

describe('the next run compares with', () => {
  test('the OUs of the last run that applied, and of no other', () => {
    const facts = factsWith(LABS)
    for (const moment of [BEGUN, ended('held'), ended('failed')])
      expect(nextOf(containerEmptied, facts, moment)).toEqual({})
    expect(nextOf(containerEmptied, factsOf(sourceOf(ALL), directory), ended('applied'))).toEqual({})
  })

  test('absent users that were not deleted in their OU, so that the block stays', () => {
    const states = statesAfter(containerEmptied, factsWith(LABS))
    expect(blocksOf(containerEmptied, factsWith(LABS, { states }))).toMatchObject([{ keys: leaves(SALES) }])
    const decided = statesAfter(containerEmptied, factsWith(LABS), ended('applied', { user: SALES }))
    expect(blocksOf(containerEmptied, factsWith(LABS, { states: decided }))).toEqual([])
  })

  test('five users that left one by one and were not deleted yet', () => {
    let states = STATES
    for (const count of [1, 2, 3, 4])
      states = statesAfter(containerEmptied, factsWith([...LABS, ...SALES.slice(count)], { states }))
    expect(blocksOf(containerEmptied, factsWith(LABS, { states }))).toMatchObject([{ keys: leaves(SALES) }])
  })
})
