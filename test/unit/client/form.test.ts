import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeForm } from '../../../src/client/form.ts'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { decodeRack } from './rack.ts'

const text = fc.string({ unit: 'grapheme' })
const user = fc.record(
  { employee_id: text, name: text, email: text, external_id: text },
  { requiredKeys: ['external_id'] },
)
const group = fc.record(
  {
    external_member_ids: fc.array(
      text.filter((id) => id !== ''),
      { minLength: 1 },
    ),
    name: text,
    external_id: text,
  },
  { requiredKeys: ['external_id', 'name'] },
)

function bodyOf(encoded: ReturnType<typeof encodeForm>): string {
  if ('problem' in encoded) throw new Error(encoded.problem)
  return encoded.body
}

test('what a Rack reader gets of a list of users is the list of users', () => {
  fc.assert(
    fc.property(fc.array(user, { minLength: 1, maxLength: 20 }), (users) => {
      expect(decodeRack(bodyOf(encodeForm(endpoints.createUsers.form, users)))).toEqual({ users })
    }),
  )
})

test('what a Rack reader gets of a list of groups is the list of groups, with their members', () => {
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 20 }), (groups) => {
      expect(decodeRack(bodyOf(encodeForm(endpoints.createGroups.form, groups)))).toEqual({ groups })
    }),
  )
})

test('what a Rack reader gets of flat fields is the fields', () => {
  fc.assert(
    fc.property(text, fc.array(text, { minLength: 1 }), (name, external_member_ids) => {
      const fields = { external_member_ids, name }
      expect(decodeRack(bodyOf(encodeForm(endpoints.updateGroup.form, fields)))).toEqual(fields)
    }),
  )
})

test('external_id is sent first, whatever the order of the object', () => {
  const body = bodyOf(encodeForm(endpoints.createUsers.form, [{ name: 'N', email: 'e@x', external_id: '1' }]))
  expect(decodeURIComponent(body)).toBe('users[][external_id]=1&users[][email]=e@x&users[][name]=N')
})

test('the order matters: with another one a person would get the e-mail of the next', () => {
  const wrong = 'users[][email]=a@x&users[][external_id]=1&users[][external_id]=2&users[][email]=b@x'
  expect(decodeRack(wrong)).toEqual({
    users: [
      { email: 'a@x', external_id: '1' },
      { external_id: '2', email: 'b@x' },
    ],
  })
  const mixed = 'users[][external_id]=1&users[][email]=b@x&users[][external_id]=2'
  expect(decodeRack(mixed)).toEqual({ users: [{ external_id: '1', email: 'b@x' }, { external_id: '2' }] })
})

test.each([
  ['no entries', [], 'users has no entries'],
  ['an empty entry', [{}], 'an entry of users has no fields'],
  [
    'an entry without its leading field among others',
    [{ external_id: '1' }, { email: 'a@x' }],
    'can only be sent alone',
  ],
  ['broken Unicode', [{ external_id: 'a\uD800' }], 'not well-formed'],
])('a list with %s is refused', (_, entries, words) => {
  expect(encodeForm(endpoints.createUsers.form, entries)).toEqual({ problem: expect.stringContaining(words) })
})

test('a single user without an external id can be sent', () => {
  expect(bodyOf(encodeForm(endpoints.createUsers.form, [{ email: 'a@x' }]))).toBe(
    'users%5B%5D%5Bemail%5D=a%40x',
  )
})
