import { expect, test } from 'vitest'
import { sourceProblem } from '../../../src/compose/site.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { DirsyncdError } from '../../../src/base/errors.ts'
import { createFolder } from '../config/folder.ts'

/** What is found before anything is opened, on lines of their own: file, line, column, key, and what to do. */
async function faultsOf(...sources: readonly string[]): Promise<string[]> {
  await using folder = await createFolder()
  const syncs = sources.map((source, index) =>
    [
      `  - name: s${index}`,
      `    source: ${source}`,
      `    directory: { baseUrl: https://a.example, organizationId: 1, directoryId: ${index + 1}, token: { env: T } }`,
    ].join('\n'),
  )
  const file = await folder.write('dirsyncd.yaml', `syncs:\n${syncs.join('\n')}\n`)
  await folder.write('no.pem', 'nothing')
  const error = await loadConfig({ file, env: {}, sourceProblem }).catch((thrown: unknown) => thrown)
  if (!(error instanceof DirsyncdError)) return expect.fail('the configuration was accepted')
  expect(error).toMatchObject({ code: 'config-invalid', exitCode: 78 })
  return error.message.split('\n').map((line) => line.replaceAll(`${folder.path}/`, ''))
}

const ldap = (users: string, more = '') =>
  `{ type: ldap, url: ldaps://ldap.example.org, users: { base: "ou=people,dc=x", filter: (uid=*), ${users} }${more} }`
const groups = (more: string) => `, groups: { base: "ou=groups,dc=x", filter: (cn=*), ${more} }`
const csv = (users: string, more = '') =>
  `{ type: csv, users: { path: u.csv, map: { external_id: id }, ${users} }${more} }`
const command = (more: string) => `{ type: command, users: { map: { external_id: id } }, ${more} }`

test.each<[string, source: string, line: RegExp]>([
  [
    'an unknown function',
    ldap('map: { email: "= lwoer(mail)" }'),
    /^dirsyncd\.yaml:3:115: syncs\[0\]\.source\.users\.map\.email: column 3: there is no function "lwoer"/,
  ],
  ['no attribute', ldap('map: { name: given name }'), /"given name" is not the name of an LDAP attribute$/],
  [
    'a base that is no DN',
    ldap('map: {}').replace('ou=people,dc=x', 'people'),
    /\.users\.base: "people" is not a DN$/,
  ],
  [
    'a filter that is none',
    ldap('map: {}').replace('(uid=*)', '"(uid=*"'),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.users\.filter: "\(uid=\*" is not an LDAP filter: "\)" is missing/,
  ],
  [
    'a rule that is none',
    ldap('disabled: skip, disabledWhen: "(a=b"'),
    /\.users\.disabledWhen: "\(a=b" is not an LDAP f/,
  ],
  [
    'an attribute of members where users name their groups',
    ldap('map: {}', groups('map: { name: cn, members: member }, membersFrom: memberOf')),
    /\.groups\.map\.members: has no use while membersFrom is memberOf$/,
  ],
  [
    'groups computed by a server that cannot',
    ldap('map: {}', `, vendor: openldap${groups('map: { name: cn }, nested: in-chain')}`),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.groups\.nested: "in-chain" is for Active Directory, .*use "flatten"/,
  ],
  [
    'a URL with a path',
    ldap('map: {}').replace('example.org', 'example.org/dc=x'),
    /has more than host and port, use us/,
  ],
  [
    'a password in the clear',
    ldap('map: {}', ', bind: { dn: cn=r, password: { env: P } }').replace('ldaps', 'ldap'),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.bind: the password of "cn=r" would cross .*bind\.allowPlainText: true$/,
  ],
  [
    'a trailer that is none',
    csv('trailer: { pattern: "((" }'),
    /users\.trailer\.pattern: "\(\(" is not a regular expression of RE2 \(.*missing closing \).*\)$/,
  ],
  [
    'a name of groups made of another column',
    csv('delimiter: ";"', ', groups: { column: teams, name: "{mail}" }'),
    /\.groups\.name: the name of a group can only be made of "teams", not of "mail"$/,
  ],
  [
    'StartTLS on ldaps',
    ldap('map: {}', ', tls: { startTls: true }'),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.tls\.startTls: it is for ldap:\/\/ URLs, and ldaps:/,
  ],
  [
    'a reader by certificate without a certificate',
    ldap('map: {}', ', bind: { external: true }'),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.bind\.external: it needs tls\.certificate and tls\.key$/,
  ],
  [
    'a CA file that holds no certificate',
    ldap('map: {}', ', tls: { ca: no.pem }'),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.tls\.ca: there is no PEM certificate in the CA file no\.pem$/,
  ],
  [
    'a template as external_id',
    ldap('map: { external_id: "{uid}" }'),
    /\.users\.map\.external_id: "\{uid\}" is a template, and only one plain attribute can be used here$/,
  ],
  [
    'members without groups',
    csv('delimiter: ";"', ', members: { path: m.csv, map: { group: g, user: u } }'),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.members: there is a file of members and none of groups/,
  ],
  [
    'no program',
    command('command: [""]'),
    /^dirsyncd\.yaml:3:\d+: syncs\[0\]\.source\.command: there is no program$/,
  ],
  [
    'a size in another unit',
    command('command: [a], maxOutput: 1MB'),
    /\.maxOutput: must be a size with a unit, such as/,
  ],
])('%s', async (_, source, line) => {
  const faults = await faultsOf(source)
  expect(faults.filter((fault) => !fault.includes('ca.pem does not exist'))).toEqual([
    expect.stringMatching(line),
  ])
})

test('the faults of every source are said at once, with all others', async () => {
  const faults = await faultsOf(
    ldap('map: { name: "= 5" }'),
    csv('quote: " "'),
    csv('delimiter: ";", quote: ";"'),
  )
  expect(faults.map((fault) => fault.replace(/:\d+: /, ' '))).toEqual([
    'dirsyncd.yaml:3 syncs[0].source.users.map.name: column 3: the result must be a text, not a number',
    'dirsyncd.yaml:6 syncs[1].source.users.quote: must be one character other than a blank, or null for none',
    'dirsyncd.yaml:9 syncs[2].source.users.quote: it is also the delimiter',
  ])
})
