import { describe, expect, test } from 'vitest'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { DECIDED, maskConfig } from '../../../src/config/masked.ts'
import { configJsonSchema } from '../../../src/config/schema.ts'

const masked = (raw: unknown) => JSON.stringify(maskConfig(raw, () => '#'))

test('every option of the schema is shown or masked knowingly', () => {
  const keys = new Set<string>()
  JSON.stringify(configJsonSchema(), (key, value: unknown) => {
    if (key === 'properties') for (const name of Object.keys(value as object)) keys.add(name)
    return value
  })
  expect([...keys].filter((key) => !DECIDED.has(key))).toEqual([])
  expect([...DECIDED].filter((key) => !keys.has(key))).toEqual([])
})

test('the example keeps addresses, bases, filters and attributes', async () => {
  const example: unknown = parse(
    await readFile(new URL('../../../config/example.yaml', import.meta.url), 'utf8'),
  )
  const text = masked(example)
  for (const kept of [
    'ldaps://ldap.example.org:636',
    'ou=people,dc=example,dc=org',
    '(objectClass=inetOrgPerson)',
    'entryUUID',
    '{givenName} {sn}',
    '"env":"DIRSYNCD_TOKEN"',
    '"file":"/run/secrets/ldap-password"',
    'redis://redis.example.org:6379/0',
  ])
    expect(text).toContain(kept)
  for (const hidden of ['cn=reader', 'svc-', '4f0c12e8', 'dirsyncd/contractors', '--active', 'dirsyncd@'])
    expect(text).not.toContain(hidden)
})

describe('nothing of these is shown', () => {
  test.each<[string, unknown]>([
    ['a literal token', { syncs: [{ directory: { token: 's3cret' } }] }],
    ['a literal token that is a number', { syncs: [{ directory: { token: 5_353_353 } }] }],
    ['a literal token in a list', { syncs: [{ directory: { token: ['s3cret'] } }] }],
    ['a token as the name of a variable', { syncs: [{ directory: { token: { env: 's3cret' } } }] }],
    ['a token as the name of a file', { syncs: [{ directory: { token: { file: 's3cret' } } }] }],
    ['a token as an argument', { storePassword: { command: ['pass', 's3cret'] } }],
    ['a token as a command', { storePassword: { command: 's3cret' } }],
    ['a token in a misspelled secret', { storePassword: { value: 's3cret' } }],
    ['a misspelled option', { storePasword: 's3cret' }],
    ['an option in the wrong place', { admin: { secret: { deep: 's3cret' } } }],
    ['a key that is a secret', { syncs: [{ source: { s3cret: 1 } }] }],
    ['a PEM text in the place of a path', { tls: { key: '-----BEGIN KEY-----\ns3cret' } }],
    ['a key without line breaks', { tls: { key: 'MIIs3cretAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/AAA' } }],
    ['the password of a store', { store: 'postgres://s3cret:s3cret@db.example.org/d?password=s3cret' }],
    ['the user of Redis', { queue: 'redis://s3cret@redis.example.org:6379/0#s3cret' }],
    ['the password of a proxy', { directory: { proxy: 'http://u:s3cret@proxy.example.org:3128' } }],
    ['a parameter of a URL', { directory: { baseUrl: 'https://a.example.org/?token=s3cret' } }],
    ['a URL that does not parse', { queue: 'redis//s3cret' }],
    ['arguments of a source', { source: { command: ['/bin/export', '--password=s3cret'] } }],
    ['a variable of a source with a value', { source: { env: ['PASSWORD=s3cret'] } }],
    ['a bind DN', { source: { bind: { dn: 'uid=s3cret,ou=people,dc=example,dc=org' } } }],
    [
      'lists of ids',
      { entries: { users: { include: ['s3cret'], exclude: [{ id: 's3cret' }, { from: 'cn=s3cret' }] } } },
    ],
    ['a protected id', { entries: { groups: { protected: ['s3cret-*'] } } }],
    ['a list that is one text', { entries: { users: { include: 's3cret' } } }],
    [
      'a filter with a mapped attribute',
      { source: { users: { map: { external_id: 'badge' }, filter: '(badge=s3cret)' } } },
    ],
    ['a filter with names', { filter: '(|(uid=s3cret)(cn=s3cret*)(mail=s3cret@example.org))' }],
    ['a filter with a list of ids', { filter: '(|(no=s3cret)(no=s3cret1)(no=s3cret2))' }],
    ['a filter with the DN of a person', { filter: '(manager=uid=s3cret,ou=people,dc=example,dc=org)' }],
    ['a filter with a matching rule', { filter: '(cn:caseExactMatch:=s3cret)' }],
    ['a name in an expression', { map: { name: '= uid == "s3cret" ? "s3cret s3cret" : cn' } }],
    ['an e-mail in an expression', { map: { email: '= first(mail, "s3cret@example.org")' } }],
    ['a default', { map: { name: { value: 'cn', default: 's3cret' } } }],
    ['a home folder', { dataDir: '/home/s3cret/data' }],
    ['an e-mail in any option', { syncs: [{ name: 's3cret@example.org', timezone: 's3cret@example.org' }] }],
  ])('%s', (_what, raw) => {
    expect(masked(raw)).not.toMatch(/s3cret|5353353/i)
  })
})

test('a filter keeps what it is for', () => {
  const filter =
    '(&(objectClass=person)(|(employeeType=staff)(employeeType=guest))(mail=*)(!(userAccountControl:1.2.840.113556.1.4.803:=2))(uid=*))'
  expect(maskConfig({ filter }, () => '#')).toEqual({ filter })
})
