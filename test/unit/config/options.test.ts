import { rootCertificates } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { loadConfig } from '../../../src/config/load.ts'
import { decisiveOptions } from '../../../src/config/options.ts'
import { changedKeys, type Options } from '../../../src/core/plan/configuration.ts'
import { createFolder } from './folder.ts'

const LDAP = `
type: ldap
url: ldap://localhost
bind: { dn: "cn=reader", password: { env: OLD } }
users: { base: "ou=people", filter: "(uid=*)", map: { external_id: entryUUID, email: mail } }
groups: { base: "ou=groups", map: { name: cn, members: member } }
`

const CSV = `
type: csv
users: { path: users.csv, map: { external_id: id, email: mail } }
groups: { column: teams }
`

const COMMAND = `
type: command
command: [./print, --all]
users: { map: { external_id: id } }
`

const DIRECTORY = {
  baseUrl: 'https://access.example.com',
  organizationId: 1,
  directoryId: 7,
  token: { env: 'OLD' },
}

type Section = Record<string, unknown>

/** What decides in a sync with this source, where `more` replaces sections of the sync. */
async function decisive(source: string, more: (sync: Section) => Section = (sync) => sync): Promise<Options> {
  await using folder = await createFolder()
  for (const name of ['ca.pem', 'other.pem']) await folder.write(name, rootCertificates[0] ?? '')
  const sync = more({ name: 'corp', source: parse(source), directory: DIRECTORY })
  const file = await folder.write('dirsyncd.yaml', stringify({ syncs: [sync] }))
  const [loaded] = (await loadConfig({ file, env: {} })).syncs
  const text = JSON.stringify(decisiveOptions(loaded!)).replaceAll(folder.path, '/etc/dirsyncd')
  return JSON.parse(text) as Options
}

async function keysAfter(source: string, more: (sync: Section) => Section): Promise<readonly string[]> {
  return changedKeys(await decisive(source), await decisive(source, more))
}

function inSource(change: object) {
  return (sync: Section): Section => ({ ...sync, source: { ...(sync['source'] as object), ...change } })
}

function inDirectory(change: object) {
  return (sync: Section): Section => ({ ...sync, directory: { ...DIRECTORY, ...change } })
}

function inUsers(change: object) {
  return (sync: Section): Section => {
    const source = sync['source'] as { users: object }
    return { ...sync, source: { ...source, users: { ...source.users, ...change } } }
  }
}

describe('a change decides who is in the directory and is named', () => {
  test.each<[string, string, (sync: Section) => Section, readonly string[]]>([
    ['vendor', LDAP, inSource({ vendor: 'openldap' }), ['vendor']],
    ['base', LDAP, inUsers({ base: ['ou=people', 'ou=guests'] }), ['users.base']],
    ['scope', LDAP, inUsers({ scope: 'one' }), ['users.scope']],
    ['filter', LDAP, inUsers({ filter: '(uid=a*)' }), ['users.filter']],
    ['no filter', LDAP, inUsers({ filter: undefined }), ['users.filter']],
    ['disabled accounts', LDAP, inUsers({ disabled: 'delete' }), ['users.disabled']],
    [
      'mapping',
      LDAP,
      inUsers({ map: { external_id: 'entryUUID', email: { value: 'mail', default: 'x@y.z' } } }),
      ['users.map.email'],
    ],
    ['groups', LDAP, inSource({ groups: undefined }), ['groups']],
    [
      'nested groups',
      LDAP,
      inSource({ groups: { base: 'ou=groups', nested: 'flatten', map: { name: 'cn', members: 'member' } } }),
      ['groups.nested'],
    ],
    ['path', CSV, inUsers({ path: ['users.csv', 'more.csv'] }), ['users.path']],
    ['delimiter', CSV, inUsers({ delimiter: ';' }), ['users.delimiter']],
    ['encoding', CSV, inUsers({ encoding: 'utf16le' }), ['users.encoding']],
    ['column of the groups', CSV, inSource({ groups: { column: 'units' } }), ['groups.column']],
    ['program', COMMAND, inSource({ command: ['./print'] }), ['command']],
    ['environment', COMMAND, inSource({ env: ['API_KEY'] }), ['env']],
    ['directory', LDAP, inDirectory({ directoryId: 8 }), ['directory.directoryId']],
    ['service', LDAP, inDirectory({ baseUrl: 'https://other.example.com' }), ['directory.baseUrl']],
    ['membership', LDAP, inDirectory({ membership: 'write' }), ['directory.membership']],
    ['emails', LDAP, inDirectory({ emails: 'shared' }), ['directory.emails']],
    ['domains', LDAP, inDirectory({ allowedDomains: ['a.org'] }), ['directory.allowedDomains']],
    ['policy', LDAP, (sync) => ({ ...sync, policy: 'upsert' }), ['policy']],
    ['lists', LDAP, (sync) => ({ ...sync, entries: { users: { exclude: ['svc-*'] } } }), ['entries']],
  ])('%s', async (_case, source, more, keys) => {
    expect(await keysAfter(source, more)).toEqual(keys)
  })

  test('another type of source', async () => {
    const keys = changedKeys(await decisive(LDAP), await decisive(CSV))
    expect(keys).toContain('source.type')
  })
})

const FORMAT = { path: 'users.csv', map: { external_id: 'id', email: 'mail' } }

describe('a change alters nothing of the directory and is not named', () => {
  test.each<[string, string, (sync: Section) => Section]>([
    ['schedule and time zone', LDAP, (sync) => ({ ...sync, schedule: '@daily', timezone: 'UTC' })],
    [
      'guards and grace',
      LDAP,
      (sync) => ({ ...sync, guards: { users: { maxDeletes: 1, deleteAfter: '7d' } } }),
    ],
    // The evidence of a read judges another server, and what its reader may see.
    ['url', LDAP, inSource({ url: ['ldap://localhost', 'ldap://127.0.0.1'] })],
    ['who reads', LDAP, inSource({ bind: { dn: 'cn=other', password: { env: 'OLD' } } })],
    ['token', LDAP, inDirectory({ token: { env: 'NEW' } })],
    ['requests', LDAP, inDirectory({ readConcurrency: 1, writeConcurrency: 1, createBatch: 9 })],
    ['rate limit', LDAP, inDirectory({ rateLimit: { requests: 1 } })],
    ['CA and proxy', LDAP, inDirectory({ ca: 'ca.pem', proxy: 'http://proxy:3128' })],
    ['a slash at the end of the address', LDAP, inDirectory({ baseUrl: `${DIRECTORY.baseUrl}/` })],
    ['password', LDAP, inSource({ bind: { dn: 'cn=reader', password: { env: 'NEW' } } })],
    ['encryption', LDAP, inSource({ tls: { startTls: true, ca: 'other.pem' } })],
    ['pages and time', LDAP, inSource({ pageSize: 5, timeouts: { read: '2h' }, confirmAfter: '2h' })],
    ['referrals', LDAP, inSource({ referrals: 'refuse' })],
    ['proofs of files', CSV, inUsers({ ...FORMAT, rows: true, sha256: true, maxAge: '1d' })],
    ['when files are read', CSV, inSource({ settle: '5s', watch: true, badRows: 'refuse' })],
    ['bounds of a program', COMMAND, inSource({ timeout: '1m', maxOutput: '1MiB', maxEntries: 5 })],
  ])('%s', async (_case, source, more) => {
    expect(await keysAfter(source, more)).toEqual([])
  })
})
