import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ATTRIBUTES } from '../../../src/compose/bundle.ts'
import { maskConfig } from '../../../src/config/masked.ts'
import { configJsonSchema } from '../../../src/config/schema.ts'
import { wholeExample } from '../../support/example-configuration.ts'

const shown = (raw: unknown) => maskConfig(raw, { hide: () => '#', attributesOf: ATTRIBUTES })
const masked = (raw: unknown) => JSON.stringify(shown(raw))

/** A configuration with this source. */
const source = (of: object) => ({ syncs: [{ source: of }] })
const ldap = (of: object) => source({ type: 'ldap', ...of })
const users = (of: object) => ldap({ users: of })
const map = (email: unknown) => users({ map: { email } })

const SCHEMA: any = configJsonSchema()

/** Configurations that hold only this value, one for each text and each secret of the schema, at its place. */
function* atEveryOption(schema: any, value: unknown): Generator<readonly [path: string, raw: unknown]> {
  if (schema.$ref === '#/$defs/secret' || schema.type === 'string') yield ['', value]
  else if (schema.$ref !== undefined)
    yield* atEveryOption(SCHEMA.$defs[schema.$ref.replace('#/$defs/', '')], value)
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* atEveryOption(each, value)
  if (schema.items !== undefined)
    for (const [path, raw] of atEveryOption(schema.items, value)) yield [path, [raw]]
  const { type, ...options } = schema.properties ?? {}
  for (const [name, option] of Object.entries(options))
    for (const [path, raw] of atEveryOption(option, value)) {
      yield [`${name} ${path}`.trim(), { [name]: raw }]
      if (type !== undefined)
        yield [`${type.const} ${name} ${path}`.trim(), { type: type.const, [name]: raw }]
    }
}

const LITERALS = ['s3cret', 'https://hooks.example.org/s3cret', 'hooks.example.org/T0/s3cret0123456789abcdef']

test('what a secret option of the schema holds literally is not shown', () => {
  const paths = new Set<string>()
  for (const literal of LITERALS)
    for (const value of [
      [literal],
      { env: literal },
      { file: literal },
      { credential: literal },
      { command: literal },
      { command: [literal] },
      { value: literal },
      { url: literal },
      { [literal]: 1 },
    ])
      for (const [path, raw] of atEveryOption(SCHEMA, value)) {
        if (path.endsWith('url') || /(?:password|token|secret|key)$/i.test(path))
          expect(`${path}: ${masked(raw)}`).not.toContain('s3cret')
        paths.add(path)
      }
  expect(paths).toContain('notifications channels slack url')
  expect(paths).toContain('storePassword')
})

/** Their texts are shown but for e-mail addresses and home folders, or are names of attributes. */
const SHOWN =
  /(?:^| )(?:dataDir|listen|hosts|time|ca|certificate|schedule|timezone|path|encoding|allowedDomains|external_id|email|name|employee_id|members|value|column|group|user)$/

test('the text of any other option, of any section, is not shown', () => {
  const texts = ['s3cret', 's3cret person', 'uid=s3cret,dc=org', '5353353', 's3cret@example.org']
  for (const text of texts)
    for (const [path, raw] of atEveryOption(SCHEMA, text))
      if (!SHOWN.test(path) || text.includes('@'))
        expect(`${path}: ${masked(raw)}`).not.toMatch(/s3cret|5353353/)
})

test('a channel shows where its secret is, and of an address only the origin', () => {
  const channels = [
    { name: 'chat', type: 'slack', url: { file: '/etc/dirsyncd/slack-url' } },
    { type: 'webhook', url: 'https://u:p@hooks.example.org:8443/in/s3cret?k=s3cret#s3cret' },
  ]
  expect(shown({ notifications: { channels } })).toEqual({
    notifications: {
      channels: [
        { name: 'chat', type: 'slack', url: { file: '/etc/dirsyncd/slack-url' } },
        { type: 'webhook', url: 'https://hooks.example.org:8443' },
      ],
    },
  })
})

test('the example keeps addresses, attributes, numbers and words of the schema', () => {
  const text = masked(parse(wholeExample()))
  for (const kept of [
    'ldaps://ldap.example.org:636',
    'entryUUID',
    '{"attributes":["givenName","sn"]}',
    '{"attributes":["objectClass"]}',
    '"env":"DIRSYNCD_TOKEN"',
    '"file":"/run/secrets/ldap-password"',
    'redis://redis.example.org:6379',
    '"organizationId":1',
    '"type":"ldap"',
    '"policy":"mirror"',
  ])
    expect(text).toContain(kept)
  for (const hidden of [
    'ou=people',
    'cn=reader',
    'svc-',
    '4f0c12e8',
    'dirsyncd/contractors',
    '--active',
    'dirsyncd@',
  ])
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
    ['a key that is a secret', ldap({ s3cret: 1 })],
    ['a PEM text in the place of a path', ldap({ tls: { key: '-----BEGIN KEY-----\ns3cret' } })],
    [
      'a PEM text in the place of a certificate',
      ldap({ tls: { certificate: '-----BEGIN KEY-----\ns3cret' } }),
    ],
    ['a key without line breaks', ldap({ tls: { key: 'MIIs3cretAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/AAA' } })],
    ['the password of a store', { store: 'postgres://s3cret:s3cret@db.example.org/d?password=s3cret' }],
    ['the user of Redis', { queue: 'redis://s3cret@redis.example.org:6379/0#s3cret' }],
    [
      'the password of a proxy',
      { syncs: [{ directory: { proxy: 'http://u:s3cret@proxy.example.org:3128' } }] },
    ],
    ['a parameter of a URL', { syncs: [{ directory: { baseUrl: 'https://a.example.org/?token=s3cret' } }] }],
    ['a URL that does not parse', { queue: 'redis//s3cret' }],
    ['arguments of a source', source({ type: 'command', command: ['/bin/export', '--password=s3cret'] })],
    ['a variable of a source with a value', source({ type: 'command', env: ['PASSWORD=s3cret'] })],
    ['a login that is no section', ldap({ bind: 's3cret' })],
    ['a bind DN', ldap({ bind: { dn: 'uid=s3cret,ou=people,dc=example,dc=org' } })],
    [
      'lists of ids',
      {
        syncs: [
          {
            entries: {
              users: { include: ['s3cret', 5_353_353], exclude: [{ id: 's3cret' }, { from: 'cn=s3cret' }] },
            },
          },
        ],
      },
    ],
    ['a protected id', { syncs: [{ entries: { groups: { protected: ['s3cret-*'] } } }] }],
    ['a list that is one text', { syncs: [{ entries: { users: { include: 's3cret' } } }] }],
    ['a filter with a mapped attribute', users({ map: { external_id: 'badge' }, filter: '(badge=s3cret)' })],
    ['a filter with names', users({ filter: '(|(uid=s3cret)(cn=s3cret*)(mail=s3cret@example.org))' })],
    ['a filter with a list of ids', users({ filter: '(|(no=s3cret)(no=s3cret1)(no=s3cret2))' })],
    [
      'a filter with the DN of a person',
      users({ filter: '(manager=uid=s3cret,ou=people,dc=example,dc=org)' }),
    ],
    ['a filter with a matching rule', users({ filter: '(cn:caseExactMatch:=s3cret)' })],
    ['a filter without parentheses', users({ filter: 'uid=s3cret' })],
    ['a filter without parentheses that ends nowhere', users({ disabledWhen: 'uid=s3cret)(s3cret' })],
    ['a filter that is only a name', users({ filter: '(s3cret.s3cret)' })],
    ['a filter with blanks', users({ filter: '(| ( uid = s3cret ) (! cn ~= s3cret))' })],
    [
      'a filter with the value of any attribute',
      users({ filter: '(!(description=s3cret))(info=*s3cret*)(o=s3cret)' }),
    ],
    ['a filter with a number', users({ filter: '(employeeNumber>=5353353)(objectClass=5353353 s3cret)' })],
    ['a filter with a time that is a name', users({ filter: '(expires<=now(s3cret))' })],
    [
      'a filter with a kind of entry that is a DN',
      users({ filter: '(objectCategory=cn=s3cret,dc=example)' }),
    ],
    ['the base of a person', users({ base: 'uid=s3cret-q,ou=people,dc=example,dc=org' })],
    [
      'a base in a list, with several parts',
      users({ base: ['mail=s3cret+ou=x,dc=org', 'CN=s3cret\\, s3cret;DC=org'] }),
    ],
    ['a base with a quoted value', users({ base: 'ou="x,uid=s3cret",dc=org' })],
    ['a base whose comma is missing', users({ base: 'ou=people uid=s3cret,dc=org' })],
    ['a base that is a name', users({ base: 's3cret s3cret' })],
    ['a regular expression', map('= matches(uid, "^(s3cret|j_s3cret)$") ? mail : lower(mail)')],
    ['a raw regular expression', map(`= replace(uid, r'^s3cret-s3cret$', '''s3cret''')`)],
    ['a text with an escaped quote', map('= uid + "a\\"s3cret" + mail')],
    ['a number in an expression', map('= size(uid) == 5353353 ? "a" : mail')],
    ['a comment in an expression', map('= lower(mail) // s3cret\n')],
    ['an expression that does not parse', map("= broken( 's3cret")],
    ['an expression of names alone', map('= s3cret is s3cret')],
    ['an expression that is too long', map(`= s3cret${' '.repeat(5000)}`)],
    ['the text of a template', map('s3cret-Q {sn} s3cret, {cn')],
    ['the text of a template that is not closed', map('{s3cret@example.org} {s3cret')],
    ['the text of a template outside of a map', source({ type: 'csv', groups: { name: 's3cret {teams}' } })],
    ['a value of a map that is no attribute', map('s3cret/s3cret')],
    [
      'the pattern of a trailer',
      source({ type: 'csv', users: { trailer: { pattern: '^by s3cret (\\d+)$' } } }),
    ],
    ['the path of an LDAP server', ldap({ url: 'ldaps://ldap.example.org/uid=s3cret,dc=example' })],
    [
      'a program with its arguments in one text',
      source({ type: 'command', command: ['export --user=s3cret'] }),
    ],
    ['a name in an expression', map('= uid == "s3cret" ? "s3cret s3cret" : cn')],
    ['an e-mail in an expression', map('= first(mail, "s3cret@example.org")')],
    [
      'a secret URL in a channel of an unknown type',
      { notifications: { channels: [{ type: 'slak', url: 'https://h.example/s3cret' }] } },
    ],
    ['a secret URL in the wrong section', { admin: { url: 'https://h.example/s3cret' } }],
    [
      'a secret URL as the file of an address',
      { syncs: [{ directory: { proxy: { file: 'https://h.example/s3cret' } } }] },
    ],
    ['a secret as the file of a login', ldap({ bind: { file: 's3cret' } })],
    ['a default', users({ map: { name: { value: 'cn', default: 's3cret' } } })],
    ['a home folder', { dataDir: '/home/s3cret/data' }],
    ['an e-mail in any option', { syncs: [{ name: 's3cret@example.org', timezone: 's3cret@example.org' }] }],
  ])('%s', (_what, raw) => {
    expect(masked(raw)).not.toMatch(/s3cret|5353353/i)
  })
})

test.each([
  [
    '(&(objectClass=person)(!(userAccountControl:1.2.840.113556.1.4.803:=2))(sn;lang-de=A*))',
    ['objectClass', 'userAccountControl', 'sn'],
  ],
  ['uid=ana', ['uid']],
  ['(accountExpires<=now(filetime))', ['accountExpires']],
])('of the filter %s the attributes are shown', (filter, attributes) => {
  expect(shown(users({ filter }))).toEqual(users({ filter: { attributes } }))
})

test.each([
  ['mail', ['mail']],
  ['full name', ['full name']],
  ['Dr. {givenName} {sn}, Graz', ['givenName', 'sn']],
  ['= lower(first(mail, uid + "@example.org"))', ['mail', 'uid']],
  ['= attr("telephone-number").before("@") == "" ? null : values(cn)[0]', ['telephone-number', 'cn']],
])('of the expression %s the attributes are shown', (expression, attributes) => {
  expect(shown(map(expression))).toEqual(map({ attributes }))
  expect(shown(map([expression]))).toEqual(map([{ attributes }]))
})
