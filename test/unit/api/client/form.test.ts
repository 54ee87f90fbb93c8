import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeForm } from '../../../../src/api/client/form.ts'
import { endpoints } from '../../../../src/api/contract/endpoints.ts'
import { parseForm } from '../../../../src/service/http/form.ts'

const text = fc.string({ unit: 'grapheme' })
const member = text.filter((id) => id !== '')
const user = fc.record(
  { employee_id: text, name: text, email: text, external_id: text },
  { requiredKeys: ['external_id'] },
)
const group = fc.record(
  {
    external_member_ids: fc.array(member, { minLength: 1 }),
    name: text,
    external_id: text,
  },
  { requiredKeys: ['external_id', 'name'] },
)

/** What the service reads of it, without the missing prototypes. */
function decode(body: string): unknown {
  return JSON.parse(JSON.stringify(parseForm(body)))
}

function bodyOf(encoded: ReturnType<typeof encodeForm>): string {
  if ('problem' in encoded) throw new Error(encoded.problem)
  return encoded.body
}

test('what the service reads of a list of users is the list of users', () => {
  fc.assert(
    fc.property(fc.array(user, { minLength: 1, maxLength: 20 }), (users) => {
      expect(decode(bodyOf(encodeForm(endpoints.createUsers.form, users)))).toEqual({ users })
    }),
  )
})

test('what the service reads of a list of groups is the list of groups, with their members', () => {
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 20 }), (groups) => {
      expect(decode(bodyOf(encodeForm(endpoints.createGroups.form, groups)))).toEqual({ groups })
    }),
  )
})

test('what the service reads of flat fields is the fields', () => {
  fc.assert(
    fc.property(text, fc.array(member, { minLength: 1 }), (name, external_member_ids) => {
      const fields = { external_member_ids, name }
      expect(decode(bodyOf(encodeForm(endpoints.updateGroup.form, fields)))).toEqual(fields)
    }),
  )
})

test('external_id is sent first, whatever the order of the object', () => {
  const body = bodyOf(encodeForm(endpoints.createUsers.form, [{ name: 'N', email: 'e@x', external_id: '1' }]))
  expect(decodeURIComponent(body)).toBe('users[][external_id]=1&users[][email]=e@x&users[][name]=N')
})

test('the order matters: with another one a person would get the e-mail of the next', () => {
  const wrong = 'users[][email]=a@x&users[][external_id]=1&users[][external_id]=2&users[][email]=b@x'
  expect(decode(wrong)).toEqual({
    users: [
      { email: 'a@x', external_id: '1' },
      { external_id: '2', email: 'b@x' },
    ],
  })
  const mixed = 'users[][external_id]=1&users[][email]=b@x&users[][external_id]=2'
  expect(decode(mixed)).toEqual({ users: [{ external_id: '1', email: 'b@x' }, { external_id: '2' }] })
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
