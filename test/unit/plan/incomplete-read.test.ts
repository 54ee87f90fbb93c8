import { expect, test } from 'vitest'
import type { Sighting } from '../../../src/directory/snapshot.ts'
import { refuseIncompleteRead } from '../../../src/plan/incomplete-read.ts'
import { sourceOf, wantUser } from './build.ts'

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
  ['many that left the filter', 10, 9, 'left-filter'],
  ['many that are gone', 10, 9, 'gone'],
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
