import { expect, test } from 'vitest'
import { logonProblem } from '../../../../../src/source/ldap/connection/logon-problem.ts'

const windows = (code: string) =>
  `80090308: LdapErr: DSID-0C09044E, comment: AcceptSecurityContext error, data ${code}, v4563`

test.each([
  ['525', 'there is no account'],
  ['530', 'at this time'],
  ['531', 'from this machine'],
  ['532', 'the password has expired'],
  ['533', 'the account is disabled'],
  ['701', 'the account has expired'],
  ['773', 'must be changed'],
  ['775', 'the account is locked'],
])('the code %s of Active Directory: %s', (code, words) => {
  expect(logonProblem(windows(code))).toContain(words)
})

test.each([
  '',
  'Invalid credentials',
  windows('52e'),
  windows('57'),
  '80090346: LdapErr: bindings, data 533, v4563',
])('nothing is made of "%s"', (diagnostic) => {
  expect(logonProblem(diagnostic)).toBeUndefined()
})
