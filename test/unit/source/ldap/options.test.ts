import { expect, test } from 'vitest'
import { silentLog } from '../../../../src/base/log/log.ts'
import { createLdapSource } from '../../../../src/source/ldap/ldap-source.ts'
import type { LdapSourceOptions } from '../../../../src/source/ldap/options.ts'

const GOOD: LdapSourceOptions = {
  url: 'ldap://ldap.example.org',
  tls: { startTls: false },
  pageSize: 100,
  timeouts: { connectMs: 1000, answerMs: 1000 },
  users: { base: 'dc=x', scope: 'sub', filter: '(uid=*)', map: { external_id: 'uid' } },
}

function users(more: Partial<LdapSourceOptions['users']>): Partial<LdapSourceOptions> {
  return { users: { ...GOOD.users, ...more } }
}

function groups(more: Partial<NonNullable<LdapSourceOptions['groups']>>): Partial<LdapSourceOptions> {
  return {
    groups: { base: 'dc=x', scope: 'sub', filter: '(cn=*)', map: { external_id: 'cn', name: 'cn' }, ...more },
  }
}

const READER = { dn: 'cn=me', password: async () => 'x' }
const CLIENT = { certificate: async () => 'x', key: async () => 'y' }

test.each<[string, Partial<LdapSourceOptions>]>([
  ['url: "ldap.example.org" is not like ldap://host:389', { url: 'ldap.example.org' }],
  ['url: "https://x" is not like ldap://host:389', { url: 'https://x' }],
  ['url: a user or password does not belong here', { url: 'ldap://me:secret@x' }],
  ['url: "ldap://x/dc=y" has more than host and port', { url: 'ldap://x/dc=y' }],
  ['tls.startTls: it is for ldap:// URLs', { url: 'ldaps://x', tls: { startTls: true } }],
  ['url: the list is empty', { url: [] }],
  ['url: ldaps://x:636 is there twice', { url: ['ldaps://x', 'ldaps://y', 'ldaps://X:636'] }],
  ['bind: the password of "cn=me" would cross the network', { bind: READER }],
  [
    'bind: the password of "cn=me" would cross the network in the clear to ldap://b:389',
    { url: ['ldaps://a', 'ldap://b'], bind: READER },
  ],
  ...['127.evil.org', 'evillocalhost', 'ldap.localhost', 'localhost.evil.org', '128.0.0.1'].map(
    (host): [string, Partial<LdapSourceOptions>] => [
      `bind: the password of "cn=me" would cross the network in the clear to ldap://${host}:389`,
      { url: `ldap://${host}`, bind: READER },
    ],
  ),
  ['bind.external: it needs tls.certificate', { url: 'ldaps://x', bind: { external: true } }],
  ['bind.external: it needs TLS', { bind: { external: true }, tls: { startTls: false, ...CLIENT } }],
  ['tls.key: it has no use without tls.certificate', { tls: { startTls: true, key: CLIENT.key } }],
  ['users.base: "people" is not a DN', users({ base: 'people' })],
  ['users.filter: "(uid=*" is not an LDAP filter', users({ filter: '(uid=*' })],
  [
    'users.map.external_id: "my id" is not the name of an LDAP attribute',
    users({ map: { external_id: 'my id' } }),
  ],
  ['users.map.name: unclosed "{"', users({ map: { external_id: 'uid', name: '{sn' } })],
  ['groups.filter: "x" is not an LDAP filter', groups({ filter: 'x' })],
  [
    'groups.map.members: "{m}" is a template',
    groups({ map: { external_id: 'cn', name: 'cn', members: '{m}' } }),
  ],
])('%s', (message, more) => {
  const create = () => createLdapSource({ ...GOOD, ...more }, silentLog())
  expect(create).toThrow(message)
  expect(create).toThrow(expect.objectContaining({ code: 'config-invalid' }))
})

test.each<[string, Partial<LdapSourceOptions>]>([
  ['allowed by name', { bind: { ...READER, allowPlainText: true } }],
  ['encrypted by StartTLS', { bind: READER, tls: { startTls: true } }],
  ['on this machine', { bind: READER, url: ['ldap://127.1.2.3', 'ldap://[::1]', 'ldap://LOCALHOST:1389'] }],
])('a password is taken where the connection is %s', (_, more) => {
  expect(() => createLdapSource({ ...GOOD, ...more }, silentLog())).not.toThrow()
})

test('good options are taken, and no secret is in a sentence', () => {
  expect(() => createLdapSource({ ...GOOD, ...groups({}) }, silentLog())).not.toThrow()
  expect(() => createLdapSource({ ...GOOD, url: 'ldap://me:secret@x' }, silentLog())).not.toThrow('secret')
})
