import { chmod, readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openExample } from '../support/example-sync.ts'
import { ldif, person } from '../support/people.ts'
import { BASE, startSlapd } from '../support/slapd.ts'

test('each example has a test against its server', async () => {
  const names = await readdir('config/examples')
  expect(names.toSorted()).toEqual([
    // test/vendors/ds389.test.ts
    '389ds.yaml',
    // test/vendors/active-directory-logon.test.ts
    'active-directory.yaml',
    'command.yaml',
    'csv.yaml',
    'openldap.yaml',
  ])
})

test('the example for OpenLDAP', async () => {
  const zoe = ldif(`uid=zoe,ou=people,${BASE}`, {
    objectClass: ['inetOrgPerson'],
    uid: ['zoe'],
    cn: ['Zoe'],
    sn: ['Zoe'],
    displayName: ['Zo\u00eb'],
    mail: ['zoe@example.org'],
  })
  const inner = ldif(`cn=inner,ou=groups,${BASE}`, {
    objectClass: ['groupOfNames'],
    cn: ['inner'],
    member: [person(1, BASE).dn],
  })
  const outer = ldif(`cn=outer,ou=groups,${BASE}`, {
    objectClass: ['groupOfNames'],
    cn: ['outer'],
    member: [`cn=inner,ou=groups,${BASE}`, person(2, BASE).dn],
  })
  await using slapd = await startSlapd({ people: 20, ldifs: [zoe, inner, outer] })
  const { dn, password } = slapd.readers.reader
  await using example = await openExample(
    'openldap',
    {
      '[ldaps://ldap1.example.org, ldaps://ldap2.example.org]': `["${slapd.ldapsUrl}", ldaps://127.0.0.1:9]`,
      'cn=reader,dc=example,dc=org': dn,
      '/etc/dirsyncd/ldap-ca.pem': './ca.pem',
      '/run/secrets/ldap-password': './password',
    },
    { 'ca.pem': slapd.ca, password },
  )
  const { users, groups } = await example.syncTwice()
  expect(users.size).toBe(21)
  expect([...users.values()]).toContainEqual({ name: 'Zo\u00eb', email: 'zoe@example.org' })
  const one = person(1, BASE)
  expect(users.get(one.entryUuid)).toEqual({ name: `${one.givenName} ${one.sn}`, email: one.mail })
  const members = new Map([...groups.values()].map((group) => [group.name, group.members]))
  expect(members.get('outer')).toEqual([one.entryUuid, person(2, BASE).entryUuid].toSorted())
})

test('the example for CSV', async () => {
  // windows-1250: Š is 8A, ž is 9E.
  const people = Buffer.from(
    'person_no;first_name;last_name;mail\n17;Ana;\x8aimi\x9e;Ana@Example.org\n18;Bo;Kim;bo@example.org\n#END;2\n',
    'latin1',
  )
  await using example = await openExample(
    'csv',
    { '/data/': './', 'settle: 2m': 'settle: 1s' },
    {
      'people.csv': people,
      'departments.csv': 'code;title\nD1;Sales\n',
      'in-department.csv': 'code;person_no\nD1;17\nD1;18\n',
    },
  )
  const { users, groups } = await example.syncTwice()
  expect(users).toEqual(
    new Map([
      ['17', { name: 'Ana \u0160imi\u017e', email: 'ana@example.org' }],
      ['18', { name: 'Bo Kim', email: 'bo@example.org' }],
    ]),
  )
  expect([...groups]).toEqual([['D1', { name: 'Sales', members: ['17', '18'] }]])
})

test('the example for a program', async () => {
  const lines = [
    '#!/bin/sh',
    'test "$PAYROLL_PASSWORD" = secret && test "$1" = --active || exit 1',
    `echo '{"user": {"id": "4711", "mail": "ada@example.org", "first": "Ada", "last": "King"}}'`,
    `echo '{"group": {"id": "sales", "title": "Sales", "members": ["4711"]}}'`,
    `echo '{"complete": true, "users": 1, "groups": 1}'`,
  ]
  await using example = await openExample(
    'command',
    { '/usr/local/bin/payroll-export': './payroll-export' },
    { 'payroll-export': `${lines.join('\n')}\n` },
    { PAYROLL_PASSWORD: 'secret' },
  )
  await chmod(`${example.site.dir}/payroll-export`, 0o755)
  const { users, groups } = await example.syncTwice()
  expect([...users]).toEqual([['4711', { name: 'Ada King', email: 'ada@example.org' }]])
  expect([...groups]).toEqual([['sales', { name: 'Sales', members: ['4711'] }]])
})
