import { describe, expect, test } from 'vitest'
import type { Sighting } from '../../../../src/core/entries/recheck.ts'
import {
  incompleteDirectory,
  lookFirst,
  refuseIncompleteRead,
} from '../../../../src/core/plan/incomplete-read.ts'
import { directoryOf, haveUser, planOf, sourceOf, wantUser } from '../diff/build.ts'

function readOf(count: number) {
  return sourceOf(Array.from({ length: count }, (_, index) => wantUser(`u${index}`)))
}

function sightingsOf(count: number, sighting: Sighting) {
  const user = new Map(Array.from({ length: count }, (_, index) => [`again${index}`, sighting] as const))
  return { user, group: new Map<string, Sighting>() }
}

test.each([
  ['two of ten', 10, 2, 'present'],
  ['exactly one percent', 300, 3, 'present'],
  ['many that left the filter', 10, 9, 'out-of-scope'],
  ['many that are gone', 10, 9, 'absent'],
] as const)('%s seen again do not make the read incomplete', (_case, read, again, sighting) => {
  expect(refuseIncompleteRead(readOf(read), sightingsOf(again, sighting))).toBeUndefined()
})

test.each([
  [10, 3],
  [299, 3],
  [300, 700],
])('of a read of %i a second look that finds %i more shows that it was incomplete', (read, again) => {
  expect(() => refuseIncompleteRead(readOf(read), sightingsOf(again, 'present'))).toThrow(
    `the read of the source was incomplete: it has ${read} users, and a second look found ${again} users more ` +
      'that the filter selects or whose attributes the reader may not see, such as "again0"; nothing was changed',
  )
})

test('groups are judged by themselves', () => {
  const group = new Map(['g1', 'g2', 'g3'].map((id) => [id, 'present'] as const))
  expect(() => refuseIncompleteRead(readOf(1000), { user: new Map(), group })).toThrow('it has 0 groups')
})

function creating(listed: number, creates: number) {
  const have = Array.from({ length: listed }, (_, index) => haveUser(`u${index}`))
  const users = Array.from({ length: listed + creates }, (_, index) => wantUser(`u${index}`))
  const directory = directoryOf(have)
  return { directory, changes: planOf(sourceOf(users), directory).changes }
}

test.each([
  ['two of ten', 0, 10, 2],
  ['exactly one percent', 200, 100, 3],
] as const)('%s creates that were there prove nothing of the list', (_case, listed, creates, there) => {
  expect(incompleteDirectory(creating(listed, creates), { user: there, group: 0 })).toEqual([])
})

test.each([
  [0, 10, 3],
  [200, 99, 3],
])(
  'of a list of %i, and %i creates, %i that were there prove that it was incomplete',
  (listed, creates, there) => {
    expect(incompleteDirectory(creating(listed, creates), { user: there, group: 0 })).toEqual([
      {
        kind: 'user',
        id: undefined,
        code: 'directory-incomplete',
        params: { there, creates },
      },
    ])
  },
)

test('the list of groups is judged by itself', () => {
  const notices = incompleteDirectory(creating(1000, 0), { user: 0, group: 3 })
  expect(notices).toMatchObject([{ kind: 'group', code: 'directory-incomplete' }])
})

describe('creates are looked up first', () => {
  const MANY = 1001
  const before = { users: 5, groups: 0 }

  test.each([
    ['on an empty list after a complete run with users', 0, 10, before, false, true],
    ['on a list with entries', 10, 1000, before, false, true],
    ['on a list that lacks what was created today', 10, MANY, before, true, true],
    ['on an empty list that lacks what was created today', 0, MANY, undefined, true, true],
  ] as const)('%s: %i listed, %i creates', (_, listed, creates, last, lacks, expected) => {
    expect(lookFirst(creating(listed, creates), last, lacks).includes('user')).toBe(expected)
  })

  test.each([
    ['on an empty list', 0, 10],
    ['that are many on a list with entries', 10, MANY],
  ])('but not %s', (_, listed, creates) => {
    expect(lookFirst(creating(listed, creates), undefined, false)).toEqual([])
  })

  test('on a list that may be incomplete, however many they are', () => {
    const { directory, changes } = creating(0, MANY)
    expect(lookFirst({ directory: { ...directory, moved: true }, changes }, undefined, false)).toEqual([
      'user',
      'group',
    ])
  })
})
