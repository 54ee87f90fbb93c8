import { expect, test } from 'vitest'
import { isPartial } from '../../../../src/source/ldap/range.ts'
import { ldapEntry } from '../../../support/ldap-entry.ts'

function entry(...names: string[]) {
  return ldapEntry('cn=big', Object.fromEntries(names.map((name) => [name, ['cn=a']])))
}

test('a range is a part of the values, whatever its end', () => {
  expect(isPartial(entry('member', 'member;range=0-1499'))).toBe(true)
  expect(isPartial(entry('member;Range=0-*'))).toBe(true)
})

test('other options are none of its business', () => {
  expect(isPartial(entry('cn;lang-de', 'usercertificate;binary', 'range'))).toBe(false)
})
