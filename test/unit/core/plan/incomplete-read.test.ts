import { expect, test } from 'vitest'
import type { Sighting } from '../../../../src/core/entries/recheck.ts'
import {
  incompleteDirectory,
  isShorter,
  refuseIncompleteRead,
} from '../../../../src/core/plan/incomplete-read.ts'
import { directoryOf, haveUser, planOf, sourceOf, wantUser } from './build.ts'

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
  return { directory, plan: planOf(sourceOf(users), directory) }
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

test.each([
  ['two fewer', { user: 8, group: 0 }, { user: 10, group: 0 }, false],
  ['exactly one percent fewer', { user: 297, group: 0 }, { user: 300, group: 0 }, false],
  ['three fewer of less than 300', { user: 296, group: 0 }, { user: 299, group: 0 }, true],
  ['more', { user: 20, group: 5 }, { user: 10, group: 0 }, false],
  ['many fewer groups', { user: 10, group: 3 }, { user: 10, group: 6 }, true],
] as const)('a list with %s than before: %o after %o is short: %s', (_case, listed, before, isShort) => {
  expect(isShorter(listed, before)).toBe(isShort)
})
