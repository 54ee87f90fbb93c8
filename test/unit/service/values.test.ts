import { expect, test } from 'vitest'
import { splitPersonName, valueErrors } from '../../../src/service/values.ts'

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
])('the e-mail %s is within %j', (email, domains) => {
  expect(valueErrors({ email }, domains)).toEqual([])
})

test('a fault has the place in front of its field', () => {
  const errors = valueErrors({ name: '', external_member_ids: ['a', '..'] }, [], 'groups[2].')
  expect(errors.map((error) => error.field)).toEqual(['groups[2].name', 'groups[2].external_member_ids[1]'])
})
