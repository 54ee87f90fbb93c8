import { expect, test } from 'vitest'
import { checkGiven } from '../../../../src/ui/cli/init/given.ts'
import { filterProblem } from '../../../../src/source/ldap/filter.ts'

const checks = { filterProblem }

const fingerprint = 'AB:'.repeat(31) + 'AB'

test.for<[Parameters<typeof checkGiven>[0], string]>([
  [{ groups: true, source: 'ldap', csvUsers: 'x' }, '--csv-users has no use with --source ldap.'],
  [{ groups: true, source: 'csv', bindDn: 'cn=x' }, '--bind-dn has no use with --source csv.'],
  [{ groups: true, source: 'csv', csvMembers: 'x' }, '--csv-members has no use without --csv-groups.'],
  [
    { groups: true, source: 'csv', csvGroups: 'g', mapMemberUser: 'x' },
    '--map-member-user has no use without --csv-members.',
  ],
  [
    { groups: true, source: 'ldap', mapMemberGroup: 'x' },
    '--map-member-group has no use with --source ldap.',
  ],
  [
    { groups: true, mapMemberGroup: 'x', mapMemberUser: 'X' },
    '--map-member-user must be another column than --map-member-group.',
  ],
  [{ groups: false, groupsBase: ['dc=x'] }, '--groups-base has no use with --no-groups.'],
  [{ groups: false, csvMembers: 'x' }, '--csv-members has no use with --no-groups.'],
  [
    { groups: true, url: 'ldaps://x', startTls: true },
    '--start-tls has no use with ldaps://, which is encrypted.',
  ],
  [
    { groups: true, url: 'ldap://x', trust: fingerprint },
    '--trust has no use without --start-tls or ldaps://.',
  ],
  [{ groups: true, trust: 'AB:CD' }, '--trust must be a SHA-256 fingerprint: 64 digits from 0 to F.'],
  [{ groups: true, csvDelimiter: ',,' }, '--csv-delimiter must be one character.'],
  [{ groups: true, tokenFile: 'x', tokenEnv: 'X' }, 'Give --token-file or --token-env, and not both.'],
  [{ groups: true, dataDir: '/etc' }, '--data-dir must be a new or an empty folder.'],
  [
    { groups: true, usersFilter: '(employeeType=staff' },
    '--users-filter is not an LDAP filter: ")" is missing at position 20.',
  ],
  [{ groups: true, groupsFilter: 'cn=a)' }, '--groups-filter is not an LDAP filter: '],
  [
    { groups: true, mapEmail: 'lower(mail)' },
    '--map-email must begin with =, as every expression: = lower(mail).',
  ],
  [{ groups: true, mapName: 'first(cn)' }, '--map-name must begin with =, as every expression: = first(cn).'],
  [
    { groups: true, mapEmployeeId: 'first(no)' },
    '--map-employee-id must begin with =, as every expression: = first(no).',
  ],
  [
    { groups: true, mapId: 'lower(uid)' },
    '--map-id must be one plain attribute or column, and no expression.',
  ],
  ...(['tokenEnv', 'bindPasswordEnv'] as const).map((name): [Parameters<typeof checkGiven>[0], string] => [
    { groups: true, [name]: 'am_63Lwv-' },
    `--${name === 'tokenEnv' ? 'token' : 'bind-password'}-env must be the name of an environment variable, not the secret itself.`,
  ]),
  ...['mill.example,b.example', '*.mill.example', 'http://x', 'a b', '@mill.example', 'mill.example.'].map(
    (domain): [Parameters<typeof checkGiven>[0], string] => [
      { groups: true, allowedDomain: ['x.org', domain] },
      '--allowed-domain must be one domain such as example.org, without @, * and commas.',
    ],
  ),
])('options that contradict each other are refused: %j', ([options, sentence]) => {
  expect(() => checkGiven(options, checks)).toThrow(sentence)
})

test('options that fit are not refused', () => {
  const options = { groups: true, source: 'ldap', url: 'ldap://x', startTls: true } as const
  for (const trust of [fingerprint, `SHA256 ${fingerprint.toLowerCase()}`, fingerprint.replaceAll(':', '')])
    expect(() => checkGiven({ ...options, trust }, checks)).not.toThrow()
  const others = {
    allowedDomain: ['mühle.example', 'mühle.example'.normalize('NFD'), 'उदाहरण.भारत', 'corp', 'a_b.x-y.org'],
    csvDelimiter: '\t',
    usersFilter: 'uid=*',
    mapId: 'uid',
    mapEmail: '= lower(mail)',
    mapName: '',
  }
  expect(() => checkGiven({ groups: true, ...others }, checks)).not.toThrow()
})
