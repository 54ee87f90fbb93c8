import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalEmail } from '../../../../src/core/entries/normalize.ts'
import { batchesOf, type Create } from '../../../../src/core/plan/batches.ts'
import type { Change, ChangeOf } from '../../../../src/core/plan/change.ts'
import { encodeForm } from '../../../../src/api/client/form.ts'
import { endpoints } from '../../../../src/api/contract/endpoints.ts'

function shapeOf({ op, want }: Create): string {
  const written = Object.entries(want).filter(([, value]) => value !== undefined)
  return [op, ...written.map(([name]) => name).toSorted()].join(' ')
}

function user(
  id: string,
  want: ChangeOf<'create-user'>['want'] = { name: id },
): { change: ChangeOf<'create-user'> } {
  return { change: { op: 'create-user', id, want } }
}

const ids = (batches: readonly (readonly { change: Change }[])[]) =>
  batches.map((batch) => batch.map(({ change }) => change.id).join(' '))

test('creates share requests, as many as may', () => {
  expect(
    ids(
      batchesOf(
        ['a', 'b', 'c', 'd', 'e'].map((id) => user(id)),
        2,
      ),
    ),
  ).toEqual(['a b', 'c d', 'e'])
  expect(ids(batchesOf([user('a'), user('b')], 1))).toEqual(['a', 'b'])
})

test.each([
  ['other fields', [user('a'), user('b', { email: 'b@example.org', name: 'B' }), user('c')], ['a c', 'b']],
  ['the same id', [user('a'), user('a'), user('b')], ['a', 'a b']],
  [
    'the same e-mail in other case',
    [user('a', { email: 'x@example.org' }), user('b', { email: 'X@example.org' })],
    ['a', 'b'],
  ],
  [
    'an e-mail that somebody else loses',
    [user('a'), { change: { ...user('b').change, takes: { from: 'z', after: null } } }, user('c')],
    ['a c', 'b'],
  ],
  [
    'another operation',
    [
      user('a'),
      { change: { op: 'delete-user', id: 'b', have: { name: 'b', email: null, groups: [] }, why: 'gone' } },
      { change: { op: 'create-group', id: 'c', want: { name: 'c' } } },
      { change: { op: 'create-group', id: 'd', want: { name: 'd' } } },
    ],
    ['a', 'b', 'c d'],
  ],
] satisfies [string, { change: Change }[], string[]][])('but not with %s', (_, items, batches) => {
  expect(ids(batchesOf(items, 10))).toEqual(batches)
})

test('a request stays below 64 kB and a little, whatever the values are', () =>
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ id: fc.string({ minLength: 1, unit: 'grapheme' }), name: longText }), {
        selector: ({ id }) => id,
        maxLength: 60,
      }),
      (users) => {
        for (const batch of batchesOf(
          users.map(({ id, name }) => user(id, { name })),
          100,
        )) {
          const entries = batch.map(({ change }) => ({ external_id: change.id, name: change.want.name }))
          const form = encodeForm(endpoints.createUsers.form, entries)
          const bytes = 'body' in form ? form.body.length : 0
          expect(bytes).toBeGreaterThan(0)
          if (batch.length > 1) expect(bytes).toBeLessThan(70_000)
        }
      },
    ),
    { numRuns: 50 },
  ))

const longText = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 400 }))
  .map(([text, times]) => text.repeat(times))

const anyCreate: fc.Arbitrary<Create> = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    email: fc.option(fc.constantFrom('x@example.org', 'X@example.org', 'y@example.org', 'z@example.org'), {
      nil: undefined,
    }),
    name: fc.option(fc.constantFrom('N', 'O'), { nil: undefined }),
    takes: fc.constantFrom(undefined, undefined, { from: 'q', after: 1 }),
    isGroup: fc.boolean(),
  })
  .map(({ id, email, name, takes, isGroup }) =>
    isGroup
      ? { op: 'create-group', id, want: { name: name ?? '' } }
      : {
          op: 'create-user',
          id,
          want: { ...(email !== undefined && { email }), ...(name !== undefined && { name }) },
          ...(takes !== undefined && { takes }),
        },
  )

test('whatever is created: each is in one batch, in its order, and nobody in it disturbs another', () =>
  fc.assert(
    fc.property(fc.array(anyCreate, { maxLength: 40 }), fc.integer({ min: 1, max: 9 }), (changes, most) => {
      const items = changes.map((change) => ({ change }))
      const batches = batchesOf(items, most)
      expect(new Set(batches.flat())).toEqual(new Set(items))
      expect(batches.flat()).toHaveLength(items.length)
      for (const batch of batches) {
        const creates = batch.map(({ change }) => change)
        expect(creates.length).toBeLessThanOrEqual(most)
        const places = batch.map((item) => items.indexOf(item))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        if (creates.length === 1) continue
        expect(new Set(creates.map(shapeOf)).size).toBe(1)
        expect(new Set(creates.map(({ id }) => id)).size).toBe(creates.length)
        const emails = creates.flatMap(({ want }) =>
          'email' in want && want.email !== undefined ? [want.email] : [],
        )
        expect(new Set(emails.map(canonicalEmail)).size).toBe(emails.length)
        expect(creates.some((change) => 'takes' in change)).toBe(false)
      }
    }),
  ))
