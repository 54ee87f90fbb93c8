import { expect, test } from 'vitest'
import { z } from 'zod'
import { entries } from '../../../src/config/entries-schema.ts'

test('lists hold patterns, ids and places', () => {
  const given = {
    users: {
      include: ['*'],
      exclude: ['svc-*', { from: '*,ou=service' }],
      protected: ['root', { id: 'a*b' }],
    },
    groups: { exclude: [{ id: 'g' }] },
  }
  expect(entries.parse(given)).toEqual(given)
  expect(entries.parse({})).toEqual({})
})

test.each([
  ['an empty list', { users: { include: [] } }, 'must name an entry, or be left out'],
  ['a place that protects', { users: { protected: [{ from: 'x' }] } }, 'must be a pattern of ids such as'],
  ['two forms at once', { users: { exclude: [{ id: 'a', from: 'b' }] } }, 'must be a pattern of ids such as'],
  ['an unknown list', { users: { excludes: ['a'] } }, 'Unrecognized key'],
])('%s is refused', (_case, given, message) => {
  const { error } = entries.safeParse(given)
  expect(error && z.prettifyError(error)).toContain(message)
})
