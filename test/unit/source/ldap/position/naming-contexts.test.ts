import { expect, test } from 'vitest'
import { namingContextsOf } from '../../../../../src/source/ldap/position/naming-contexts.ts'
import { ldapEntry } from '../../../../support/ldap-entry.ts'

const contexts = ['DC=Example, DC=org', 'ou=sub,dc=example,dc=org', 'CN=Configuration,DC=example,DC=org', '']
const rootDse = ldapEntry('', { namingContexts: contexts })

test.each<[string, string[], string[] | undefined]>([
  ['the suffix itself', ['dc=example,dc=org'], ['dc=example,dc=org']],
  ['a base below it, in another spelling', ['OU=People, dc=EXAMPLE, dc=org'], ['dc=example,dc=org']],
  ['two bases of one context', ['ou=a,dc=example,dc=org', 'ou=b,dc=example,dc=org'], ['dc=example,dc=org']],
  ['the inner one of two contexts', ['cn=x,ou=sub,dc=example,dc=org'], ['ou=sub,dc=example,dc=org']],
  [
    'bases of two contexts',
    ['ou=people,dc=example,dc=org', 'ou=sub,dc=example,dc=org'],
    ['dc=example,dc=org', 'ou=sub,dc=example,dc=org'],
  ],
  ['a name that only ends alike', ['ou=people,dc=notexample,dc=org'], undefined],
  ['one of two bases elsewhere', ['ou=people,dc=example,dc=org', 'dc=elsewhere'], undefined],
  ['everything', [''], undefined],
])('%s', (_, bases, found) => {
  expect(namingContextsOf(bases, rootDse)).toEqual(found)
})

test('a server that does not show its root DSE has none', () => {
  expect(namingContextsOf(['dc=example,dc=org'], undefined)).toBeUndefined()
})
