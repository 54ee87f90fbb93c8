import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { DECIDED, maskConfig } from '../../../src/config/masked.ts'
import { configJsonSchema } from '../../../src/config/schema.ts'
import { wholeExample } from '../../support/example-configuration.ts'

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

/** Configurations that hold only this value, one for each secret option of the schema, with and without types. */
function* inSecrets(schema: any, value: unknown): Generator<readonly [path: string, raw: unknown]> {
  if (schema.$ref === '#/$defs/secret') yield ['', value]
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* inSecrets(each, value)
  if (schema.items !== undefined)
    for (const [path, raw] of inSecrets(schema.items, value)) yield [path, [raw]]
  const { type, ...options } = schema.properties ?? {}
  for (const [name, option] of Object.entries(options)) {
    for (const [path, raw] of inSecrets(option, value)) {
      yield [`${name} ${path}`, { [name]: raw }]
      if (type !== undefined) yield [`${type.const} ${name} ${path}`, { type: type.const, [name]: raw }]
    }
  }
}

test('what a secret option of the schema holds literally is not shown', () => {
  const schema = configJsonSchema()
  const paths = new Set<string>()
  for (const literal of [
    's3cret',
    'https://hooks.example.org/s3cret',
    'hooks.example.org/T0/s3cret0123456789abcdef',
  ])
    for (const value of [
      literal,
      [literal],
      { env: literal },
      { file: literal },
      { credential: literal },
      { command: literal },
      { value: literal },
      { url: literal },
    ])
      for (const [path, raw] of inSecrets(schema, value)) {
        expect(`${path}: ${masked(raw)}`).not.toContain('s3cret')
        paths.add(path.trim())
      }
  expect(paths).toContain('notifications channels slack url')
  expect(paths).toContain('storePassword')
})

test('a channel shows where its secret is, and of an address only the origin', () => {
  const shown = maskConfig(
    [
      { type: 'slack', url: { file: '/etc/dirsyncd/slack-url' } },
      { type: 'webhook', url: 'https://u:p@hooks.example.org:8443/in/s3cret?k=s3cret#s3cret' },
    ],
    () => '#',
  )
  expect(shown).toEqual([
    { type: 'slack', url: { file: '/etc/dirsyncd/slack-url' } },
    { type: 'webhook', url: 'https://<masked>@hooks.example.org:8443' },
  ])
})

test('the example keeps addresses, bases, filters and attributes', () => {
  const text = masked(parse(wholeExample()))
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
    ['a token as the name of a credential', { syncs: [{ directory: { token: { credential: 's3cret' } } }] }],
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
    ['a login that is no section', { source: { bind: 's3cret' } }],
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
    ['a filter without parentheses', { filter: 'uid=s3cret' }],
    ['a filter without parentheses that ends nowhere', { disabledWhen: 'uid=s3cret)(s3cret' }],
    ['a filter that is only a name', { filter: '(s3cret.s3cret)' }],
    ['a filter with blanks', { filter: '(| ( uid = s3cret ) (! cn ~= s3cret))' }],
    [
      'a filter with the value of any attribute',
      { filter: '(!(description=s3cret))(info=*s3cret*)(o=s3cret)' },
    ],
    ['a filter with a number', { filter: '(employeeNumber>=5353353)(objectClass=5353353 s3cret)' }],
    ['a filter with a time that is a name', { filter: '(expires<=now(s3cret))' }],
    ['a filter with a kind of entry that is a DN', { filter: '(objectCategory=cn=s3cret,dc=example)' }],
    ['the base of a person', { base: 'uid=s3cret-q,ou=people,dc=example,dc=org' }],
    [
      'a base in a list, with several parts',
      { base: ['mail=s3cret+ou=x,dc=org', 'CN=s3cret\\, s3cret;DC=org'] },
    ],
    ['a base with a quoted value', { base: 'ou="x,uid=s3cret",dc=org' }],
    ['a base whose comma is missing', { base: 'ou=people uid=s3cret,dc=org' }],
    ['a base that is a name', { base: 's3cret s3cret' }],
    [
      'a regular expression',
      { map: { email: '= matches(uid, "^(s3cret|j_s3cret)$") ? mail : lower(mail)' } },
    ],
    ['a raw regular expression', { map: { email: `= replace(uid, r'^s3cret-s3cret$', '''s3cret''')` } }],
    ['a text with an escaped quote', { map: { email: '= uid + "a\\"s3cret" + mail' } }],
    ['a number in an expression', { map: { email: '= size(uid) == 5353353 ? "a" : mail' } }],
    ['a comment in an expression', { map: { email: '= lower(mail) // s3cret\n' } }],
    ['an expression that does not parse', { map: { email: "= broken( 's3cret" } }],
    ['an expression of names alone', { map: { email: '= s3cret is s3cret' } }],
    ['an expression that is too long', { map: { email: `= s3cret${' '.repeat(5000)}` } }],
    ['the text of a template', { map: { name: 's3cret-Q {sn} s3cret, {cn' } }],
    ['the text of a template that is not closed', { map: { name: '{s3cret@example.org} {s3cret' } }],
    ['the text of a template outside of a map', { groups: { name: 's3cret {teams}' } }],
    ['a value of a map that is no attribute', { map: { name: 's3cret/s3cret' } }],
    ['the pattern of a trailer', { trailer: { pattern: '^by s3cret (\\d+)$' } }],
    ['the path of an LDAP server', { source: { url: 'ldaps://ldap.example.org/uid=s3cret,dc=example' } }],
    ['a program with its arguments in one text', { source: { command: ['export --user=s3cret'] } }],
    ['a name in an expression', { map: { name: '= uid == "s3cret" ? "s3cret s3cret" : cn' } }],
    ['an e-mail in an expression', { map: { email: '= first(mail, "s3cret@example.org")' } }],
    [
      'a secret URL in a channel of an unknown type',
      { channels: [{ type: 'slak', url: 'https://h.example/s3cret' }] },
    ],
    ['a secret URL in the wrong section', { admin: { url: 'https://h.example/s3cret' } }],
    ['a secret URL as the file of an address', { proxy: { file: 'https://h.example/s3cret' } }],
    ['a secret as the file of a login', { source: { bind: { file: 's3cret' } } }],
    ['a default', { map: { name: { value: 'cn', default: 's3cret' } } }],
    ['a home folder', { dataDir: '/home/s3cret/data' }],
    ['an e-mail in any option', { syncs: [{ name: 's3cret@example.org', timezone: 's3cret@example.org' }] }],
  ])('%s', (_what, raw) => {
    expect(masked(raw)).not.toMatch(/s3cret|5353353/i)
  })
})

test('a filter keeps its structure, and values that are no people', () => {
  const kept =
    '(&(objectClass=person)(objectCategory=group)(mail=*)(!(userAccountControl:1.2.840.113556.1.4.803:=2))(uid=*)' +
    '(groupType:1.2.840.113556.1.4.803:=2147483648)(!(isCriticalSystemObject=TRUE))(accountExpires<=now(filetime)))'
  expect(maskConfig({ filter: kept }, () => '#')).toEqual({ filter: kept })
  expect(
    maskConfig(
      { filter: '(|(employeeType=staff)(sn;lang-de=A*)(cn:dn:caseExactMatch:=b)(x>=5))' },
      () => '#',
    ),
  ).toEqual({ filter: '(|(employeeType=#)(sn;lang-de=#*)(cn:dn:caseExactMatch:=#)(x>=#))' })
  expect(maskConfig({ filter: 'uid=ana' }, () => '#')).toEqual({ filter: 'uid=#' })
})

test.each([
  ['ou=people,dc=example,dc=org', 'ou=people,dc=example,dc=org'],
  ['CN=Users,DC=example,DC=org', 'CN=Users,DC=example,DC=org'],
  ['uid=ana, ou=Sales East, o=Example', 'uid=#, ou=Sales East, o=#'],
])('the base %s keeps its branches', (base, shown) => {
  expect(maskConfig({ base }, () => '#')).toEqual({ base: shown })
})

test.each([
  ['mail', 'mail'],
  ['full name', 'full name'],
  ['{givenName} {sn}', '{givenName} {sn}'],
  ['Dr. {sn}, Graz', '#. {sn}, #'],
  ['= lower(first(mail, uid + "@example.org"))', '= lower(first(mail, uid + "#"))'],
  [
    '= attr("telephone-number").before("@") == "" ? null : cn[0]',
    '= attr("telephone-number").before("@") == "" ? null : cn[0]',
  ],
  [`= values(a).filter(p, p.startsWith('X')) // b`, `= values(a).filter(p, p.startsWith("#")) // <masked>`],
])('the value of a map %s keeps its structure', (name, shown) => {
  expect(maskConfig({ map: { name } }, () => '#')).toEqual({ map: { name: shown } })
})
