import { expect, test } from 'vitest'
import { splitPersonName, subscriptionErrors, valueErrors } from '../../../src/service/values.ts'

test.each([
  [null, null, null],
  ['Ada', null, 'Ada'],
  ['Ada Lovelace', 'Ada', 'Lovelace'],
  ['  Ada   King  Lovelace ', 'Ada King', 'Lovelace'],
])('the name %j has the parts %j and %j', (name, first, last) => {
  expect(splitPersonName(name)).toEqual({ first, last })
})

test('what is not written is not checked', () => {
  expect(valueErrors({}, [])).toEqual([])
})

test.each([
  ['a@ÉXAMPLE.org', ['éxample.org']],
  ['a@e\u0301xample.org', ['éxample.org']],
  ['a@second.example', ['first.example', 'Second.Example']],
  ["o'brien+tag@EXAMPLE.org", ['example.org']],
])('the e-mail %s is within %j', (email, domains) => {
  expect(valueErrors({ email }, domains)).toEqual([])
})

test.each([
  ['an empty external id', { external_id: '' }],
  ['the external id "."', { external_id: '.' }],
  ['the external id ".."', { external_id: '..' }],
  ['an external id of 2,049 bytes', { external_id: 'x'.repeat(2049) }],
  ['an external id with a NUL', { external_id: 'a\0b' }],
  ['half a character', { external_id: '\ud800' }],
  ['an empty e-mail', { email: '' }],
  ['an e-mail without an @', { email: 'example.org' }],
  ['an e-mail without a name', { email: '@example.org' }],
  ['an e-mail with a space', { email: 'a b@example.org' }],
  ['an e-mail with two @', { email: 'a@b@example.org' }],
  ['an e-mail of another domain', { email: 'a@example.com' }],
  ['an e-mail of a subdomain', { email: 'a@mail.example.org' }],
  ['an e-mail of a longer domain', { email: 'a@notexample.org' }],
  ['an empty name', { name: '' }],
  ['a name of blanks', { name: ' \t' }],
  ['a name with a NUL', { name: 'a\0b' }],
  ['an employee id of 2,049 bytes', { employee_id: 'x'.repeat(2049) }],
])('%s may not be written', (_name, values) => {
  expect(valueErrors(values, ['example.org']).map(({ field }) => field)).toEqual(Object.keys(values))
})

test('a fault has the place in front of its field', () => {
  const errors = valueErrors({ name: '', external_member_ids: ['a', '..'] }, [], 'groups[2].')
  expect(errors.map((error) => error.field)).toEqual(['groups[2].name', 'groups[2].external_member_ids[1]'])
})

test.each([
  ['nothing', {}, []],
  ['a name and the first position', { name: 'Atlas', position: 0 }, []],
  ['the largest position', { position: 2_147_483_647 }, []],
  ['an empty name', { name: ' ' }, ['name']],
  ['a name that is half a character', { name: '\ud800' }, ['name']],
  ['a negative position', { position: -1 }, ['position']],
  ['a position that is too large', { position: 2_147_483_648 }, ['position']],
  ['infinitely far away', { name: '', position: Infinity }, ['name', 'position']],
])('of a subscription %s has these faults', (_name, values, fields) => {
  expect(subscriptionErrors(values).map(({ field }) => field)).toEqual(fields)
})
