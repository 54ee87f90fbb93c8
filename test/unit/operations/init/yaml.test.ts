import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { configurationText, type RawConfiguration } from '../../../../src/operations/init/yaml.ts'

const CONFIGURATION: RawConfiguration = {
  dataDir: './data',
  admin: { listen: '127.0.0.1:8080' },
  syncs: [
    {
      name: 'corp',
      source: {
        type: 'ldap',
        url: 'ldaps://ldap.example.org',
        tls: { ca: 'ldap-ca.pem' },
        bind: { dn: 'cn=reader, "odd" #1: yes', password: { file: 'secrets/ldap-password' } },
        users: {
          base: ['ou=a,dc=x', 'ou=b,dc=x'],
          filter: '(&(objectClass=person)(!(cn=*: #*)))',
          map: {
            external_id: 'entryUUID',
            email: "= lower(first(mail, 'x'))",
            name: ['displayName', '{givenName} {sn}'],
          },
        },
      },
      directory: {
        baseUrl: 'https://access.example.com',
        organizationId: 1,
        directoryId: 7,
        token: { env: 'TOKEN' },
      },
      policy: 'mirror',
    },
  ],
}

test('the text says the same, whatever is in it', () => {
  expect(parse(configurationText(CONFIGURATION))).toEqual(CONFIGURATION)
})

test('every option has a comment above it, but for those within one line', () => {
  const lines = configurationText(CONFIGURATION).split('\n')
  const bare = lines.filter(
    (line, at) => /^\s*(- )?\w+:/.test(line) && !/^\s*(- )?#/.test(lines[at - 1] ?? ''),
  )
  expect(bare.map((line) => line.trim())).toEqual(['type: ldap'])
})

test('secrets and lists stand on one line, and no line of a comment is too long', () => {
  const text = configurationText(CONFIGURATION)
  expect(text).toContain('password: { file: secrets/ldap-password }')
  expect(text).toContain('name: [ displayName, "{givenName} {sn}" ]')
  const [sync] = CONFIGURATION.syncs
  const bases = ['ou=people in a unit with a long name,dc=example,dc=org', 'ou=others,dc=example,dc=org']
  const users = { ...sync.source.users, base: bases }
  const long = { ...CONFIGURATION, syncs: [{ ...sync, source: { ...sync.source, users } }] } as const
  expect(configurationText(long as never)).toContain(
    `base:\n${bases.map((base) => `          - ${base}\n`).join('')}`,
  )
  const comments = text.split('\n').filter((line) => line.trim().startsWith('#'))
  expect(Math.max(...comments.map((line) => line.length))).toBeLessThan(125)
})
