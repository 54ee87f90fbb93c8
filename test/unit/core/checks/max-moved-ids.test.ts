import { expect, test } from 'vitest'
import { maxMovedIds } from '../../../../src/core/checks/max-moved-ids.ts'
import {
  approving,
  blocksOf,
  codesOf,
  directoryOf,
  factsOf,
  LIMITS,
  leftAfter,
  sourceOf,
  type Given,
} from './build.ts'

const directory = directoryOf([
  { id: '1', name: 'Ana Silva', email: 'ana@example.org' },
  { id: '2', name: 'Bo Lund', email: 'bo@example.org' },
  { id: '3', name: 'Cy Tan', email: 'cy@example.org' },
])
const moved = [
  { id: '1', name: 'Dee Roy', email: 'dee@example.org' },
  { id: '2', name: 'Eli Fox', email: 'eli@example.org' },
]
const cy = { id: '3', name: 'Cy Tan', email: 'cy@example.org' }
const facts = (users: typeof moved, limit: number | undefined, given: Given = {}) =>
  factsOf(sourceOf(users), directory, {
    limits: {
      ...LIMITS,
      ...(limit !== undefined && { maxMovedIds: limit }),
    },
    ...given,
  })

test.each([
  [1, ['max-moved-ids']],
  [2, []],
  [undefined, []],
])('two ids that seem to be of other people, with a limit of %s: %j', (limit, codes) => {
  expect(codesOf(maxMovedIds, facts([...moved, cy], limit))).toEqual(codes)
})

test('the plan stops, and the values of these users are named', () => {
  const [block] = blocksOf(maxMovedIds, facts([...moved, cy], 1))
  expect(block).toMatchObject({ stops: 'plan', until: 'decision', params: { users: 2, limit: 1 } })
  expect(block?.keys).toEqual([
    'user 1 name Dee Roy',
    'user 1 email dee@example.org',
    'user 2 name Eli Fox',
    'user 2 email eli@example.org',
  ])
})

test('a new surname or a new domain is the same user', () => {
  const same = [
    { id: '1', name: 'Ana Costa', email: 'costa@example.org' },
    { id: '2', name: 'Robert Berg', email: 'bo@example.com' },
  ]
  expect(codesOf(maxMovedIds, facts([...same, cy], 0))).toEqual([])
})

test('users whose values are approved are written and do not count', () => {
  const ledger = approving(
    'max-moved-ids',
    ['user', '1', 'name', 'Dee Roy'],
    ['user', '1', 'email', 'dee@example.org'],
  )
  expect(codesOf(maxMovedIds, facts([...moved, cy], 1, { ledger }))).toEqual([])
  expect(leftAfter(maxMovedIds, facts([...moved, cy], 0, { ledger }))).toEqual([
    'user 1 name Dee Roy',
    'user 1 email dee@example.org',
  ])
})
