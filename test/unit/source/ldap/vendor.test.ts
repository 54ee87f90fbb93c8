import { AndFilter, EqualityFilter, type Filter } from 'ldapts'
import { expect, test } from 'vitest'
import { compileOptions } from '../../../../src/source/ldap/compile.ts'
import { parseFilter } from '../../../../src/source/ldap/filter.ts'
import { PROFILES, vendorOf } from '../../../../src/source/ldap/vendor.ts'

/** What the servers themselves answer. */
test.each<[string, string, Record<string, string[]>]>([
  ['openldap', 'OpenLDAP 2.5', { objectClass: ['top', 'OpenLDAProotDSE'] }],
  [
    'active-directory',
    'Windows Server 2022',
    { supportedCapabilities: ['1.2.840.113556.1.4.800', '1.2.840.113556.1.4.1670'] },
  ],
  [
    'active-directory',
    'Samba',
    {
      vendorName: ['Samba Team (https://www.samba.org)'],
      supportedCapabilities: ['1.2.840.113556.1.4.800'],
    },
  ],
  ['active-directory', 'AD LDS', { supportedCapabilities: ['1.2.840.113556.1.4.1851'] }],
  [
    '389ds',
    '389 Directory Server',
    { vendorName: ['389 Project'], vendorVersion: ['389-Directory/2.3.1 B2023.024.1552'] },
  ],
  ['389ds', 'Red Hat Directory Server', { vendorVersion: ['Red Hat-Directory/11.5 B2022.1'] }],
  [
    'freeipa',
    'FreeIPA',
    {
      vendorName: ['389 Project'],
      vendorVersion: ['389-Directory/1.4.4'],
      supportedExtension: ['2.16.840.1.113730.3.5.12', '2.16.840.1.113730.3.8.10.1'],
    },
  ],
  ['lldap', 'lldap', { vendorName: ['LLDAP'], vendorVersion: ['lldap_0.5.0'], objectClass: ['top'] }],
  ['generic', 'a server that says nothing of use', { objectClass: ['top'], vendorName: ['Acme'] }],
  ['generic', 'a server that says nothing at all', {}],
])('%s is the vendor of %s', (vendor, _, root) => {
  expect(vendorOf((name) => root[name] ?? [])).toBe(vendor)
})

test.each([
  ['active-directory', 5000, 1000],
  ['active-directory', 200, 200],
  ['openldap', 5000, 5000],
  ['lldap', 5000, undefined],
] as const)('%s is asked for pages of %i in pages of %s', (vendor, pageSize, asked) => {
  const options = {
    url: 'ldaps://x',
    tls: { startTls: false },
    pageSize,
    timeouts: { connectMs: 1000, answerMs: 1000 },
    users: { base: 'dc=x', scope: 'sub', map: {} },
  } as const
  expect(compileOptions(options, PROFILES[vendor]).pageSize).toBe(asked)
})

/** Whether an entry matches a filter of equalities, of which all must hold. */
function isMatch(filter: Filter, entry: Readonly<Record<string, readonly string[]>>): boolean {
  if (filter instanceof AndFilter) return filter.filters.every((each) => isMatch(each, entry))
  if (!(filter instanceof EqualityFilter)) return expect.fail('there is more in the filter')
  return (entry[filter.attribute] ?? []).includes(filter.value.toString())
}

test.each([
  ['locked by an administrator', ['000001010000Z'], true],
  ['locked out for some minutes after wrong passwords', ['20261122031500Z'], false],
  ['not locked', [], false],
])('an account of OpenLDAP that is %s', (_, pwdAccountLockedTime, isDisabled) => {
  const filter = parseFilter(PROFILES.openldap.disabledWhen ?? '', 'openldap')
  expect(isMatch(filter, { pwdAccountLockedTime })).toBe(isDisabled)
})

test('the copies that FreeIPA makes of everybody below cn=compat are no users', () => {
  const filter = parseFilter(PROFILES.freeipa.userFilter ?? '', 'freeipa')
  const person = ['top', 'person', 'posixAccount']
  expect(isMatch(filter, { objectClass: [...person, 'ipaObject'] })).toBe(true)
  expect(isMatch(filter, { objectClass: person })).toBe(false)
})

test('every filter of a vendor is one', () => {
  for (const profile of Object.values(PROFILES)) {
    for (const filter of [profile.userFilter, profile.groupFilter, profile.disabledWhen])
      if (filter !== undefined) expect(() => parseFilter(filter, profile.vendor)).not.toThrow()
  }
})
