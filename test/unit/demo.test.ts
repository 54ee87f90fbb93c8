import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { emailDomain } from '../../src/core/entries/normalize.ts'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { loadConfig as loadService } from '../../src/service/config/config.ts'
import { readFixture } from '../../src/service/fixture/read.ts'
import { hashToken } from '../../src/service/store/tokens.ts'
import { checkFixture } from '../../src/service/fixture/schema.ts'
import { createCsvSource } from '../../src/source/csv/csv-source.ts'

const ROOT = new URL('../../', import.meta.url)
const CONFIG = fileURLToPath(new URL('config/demo.yaml', ROOT))
const SERVICE = fileURLToPath(new URL('config/demo/access-service.yaml', ROOT))

async function loadDemo() {
  const config = await loadConfig({ file: CONFIG, env: {} })
  const [sync] = config.syncs
  if (sync === undefined || sync.source.type !== 'csv') throw new Error('the demo has no CSV sync')
  return { config, sync, csv: sync.source.options }
}

describe('the demo configuration', () => {
  test('begins when nothing is there but the repository', async () => {
    const { config, sync } = await loadDemo()
    expect(config.dataDir).toBe(fileURLToPath(new URL('var/demo', ROOT)))
    expect(config.store.kind).toBe('embedded')
    expect(config.queue.kind).toBe('store')
    const { service } = await loadService({ file: SERVICE, env: {} })
    expect(service).toMatchObject({ store: { kind: 'embedded' }, dataDir: join(config.dataDir, 'service') })
    expect(sync).toMatchObject({
      name: 'demo',
      schedule: { kind: 'interval', everyMs: 60_000 },
      policy: 'mirror',
    })
  })

  test('asks the service beside it', async () => {
    const { sync } = await loadDemo()
    const { listen, fixture = '' } = (await loadService({ file: SERVICE, env: {} })).service
    const [organization] = checkFixture(await readFixture(fixture), fixture).organizations
    const { directory } = sync
    expect(directory.baseUrl).toBe(`http://${listen.host}:${listen.port}`)
    expect(organization).toMatchObject({
      id: directory.organizationId,
      allowedDomains: directory.allowedDomains,
    })
    expect(organization?.directories).toMatchObject([{ id: directory.directoryId, users: [], groups: [] }])
    expect(organization?.contacts[0]?.tokens[0]).toMatchObject({
      sha256: hashToken(await directory.token.read()),
      scopes: expect.arrayContaining(['ORG', 'ORG_READ']),
    })
    expect(directory.token.describe()).toBe(`file ${fileURLToPath(new URL('config/demo/token.txt', ROOT))}`)
    expect(await directory.token.read()).toMatch(/^demo-/)
  })
})

describe('the service of the demo', () => {
  test('has something to show at every endpoint', async () => {
    const { fixture = '' } = (await loadService({ file: SERVICE, env: {} })).service
    const { providers, organizations } = checkFixture(await readFixture(fixture), fixture)
    const [{ installations, contacts, groups, events }] = organizations as [(typeof organizations)[0]]
    const subscriptions = contacts.flatMap((contact) => contact.subscriptions)
    expect([providers, installations, subscriptions, groups, events].map(({ length }) => length)).toEqual([
      5, 6, 6, 3, 12,
    ])
    expect(installations.filter(({ configuration }) => configuration.saml)).toMatchObject([{ provider: 1 }])
    expect(installations.filter(({ icons }) => icons !== undefined)).toHaveLength(1)
    expect(subscriptions.filter(({ kind }) => kind === 'vault-item')).toHaveLength(1)
  })

  test('lets a person in with a token that is there', async () => {
    const { fixture = '' } = (await loadService({ file: SERVICE, env: {} })).service
    const [organization] = checkFixture(await readFixture(fixture), fixture).organizations
    const token = await readFile(new URL('config/demo/user-token.txt', ROOT), 'utf8')
    expect(token).toMatch(/^demo-\S+\n$/)
    expect(organization?.contacts[1]).toMatchObject({
      name: 'Zoë Keller',
      tokens: [{ sha256: hashToken(token.trim()), scopes: ['USER_READ', 'USER', 'ORG_READ'] }],
    })
  })
})

describe('the people of the demo', () => {
  let snapshot: SourceSnapshot

  beforeAll(async () => {
    const { csv } = await loadDemo()
    snapshot = await createCsvSource(csv, silentLog()).read(new AbortController().signal)
  })

  const users = () => [...snapshot.users.values()]
  const names = () => users().map(({ name }) => name ?? '')

  test('are all understood', () => {
    expect(snapshot.unreadable).toBe(0)
    expect(snapshot.notices).toEqual([])
    expect(snapshot.users.size).toBe(1000)
    expect(snapshot.groups.size).toBe(40)
    expect(users().filter(({ name, employeeId }) => !name || !employeeId)).toEqual([])
  })

  test.each([
    "Seán O'Neill",
    "Giulia D'Angelo",
    'Łukasz Wójcik',
    'Nguyễn Thị Hương',
    'Lucía García-Márquez',
    'Ayşe Çelik',
    'Robert "Bob" O\'Brien',
    'Wang Fang (王芳)',
    'Sukarni',
    'Олена Коваленко',
  ])('%s is there', (name) => {
    expect(names()).toContain(name)
  })

  test('include a few without an address, and a few with one that is not allowed', async () => {
    const { sync } = await loadDemo()
    const allowed = sync.directory.allowedDomains ?? []
    expect(users().filter(({ email }) => email === undefined)).toHaveLength(5)
    const outside = users().filter(
      ({ email }) => email !== undefined && !allowed.includes(emailDomain(email)),
    )
    expect(outside.map(({ name }) => name)).toEqual(['Maja Lindqvist', 'Tobias Grünwald', "Priya D'Souza"])
  })

  test('are the people of the compose file’s LDAP server too', async () => {
    const ldif = await readFile(new URL('deploy/openldap/people.ldif', ROOT), 'utf8')
    const people = [...ldif.matchAll(/^uid: (.+)\n(?:.+\n)*?mail: (.+)\n/gm)].map(([, id, mail]) => [
      id,
      mail,
    ])
    expect(people).toHaveLength(199)
    expect(people).toEqual(people.map(([id = '']) => [id, snapshot.users.get(id)?.email]))
  })
})
