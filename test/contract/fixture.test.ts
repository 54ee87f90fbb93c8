import { hash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadAtStart } from '../../src/service/fixture/load-at-start.ts'
import { loadFixture } from '../../src/service/fixture/load.ts'
import { readFixture } from '../../src/service/fixture/read.ts'
import { operatorOf } from '../support/operator.ts'
import { loadYaml, testContext } from '../support/service.ts'
import { tempDir } from '../support/temp.ts'
import { ask, problem } from './api.ts'
import { describeService } from './with-service.ts'

function organization(id: number, tokens: string, directories = ''): string {
  return `
  - id: ${id}
    name: Organization ${id}
    allowedDomains: [example.org]
    contacts:
      - { id: ${id}, name: Ada, email: ada@example.org, tokens: [${tokens}] }
    directories: [${directories}]
`
}

interface Access {
  readonly provider?: number
  readonly installation?: number
  /** The contact Ben. */
  readonly second?: number
  /** The first of the two that Ada has. */
  readonly subscription?: number
  readonly group?: number
  /** Of the group, instead of Ada and Ben. */
  readonly members?: string
}

/** An organization with one of everything that has to do with subscriptions, and with ids made of its own. */
function access(id: number, more: Access = {}): string {
  const { provider = id, installation = id, second = id + 1, subscription = id * 10 + 1, group = id } = more
  const app = `{ id: ${subscription}, installation: ${installation}, name: App, created_at: 30d, last_login: 3h, bookmarks: [{ name: Home, url: "https://app.example" }, plain], credentials: { login: ada, password: hidden-password } }`
  const item = `{ id: ${id * 10 + 2}, installation: ${installation}, kind: vault-item, name: Item, credentials: { login: hidden-login, password: hidden-value } }`
  const ada = `{ id: ${id}, name: Ada, email: ada@example.org, created_at: 365d, tokens: [{ token: token-of-ada-in-${id}, scopes: [ORG_READ, USER_READ], expires: 5000d }], subscriptions: [${app}, ${item}] }`
  const ben = `{ id: ${second}, name: Ben, email: ben@example.org, last_activity: 2d }`
  return `
  - id: ${id}
    name: Organization ${id}
    allowedDomains: [example.org]
    installations:
      - id: ${installation}
        provider: ${provider}
        name: App
        slug: app
        configuration: { url: "https://app.example/${id}", extra: { region: eu, shards: [1, 2] } }
    contacts: [${ada}, ${ben}]
    groups:
      - { id: ${group}, name: Group, created_at: 7d, contacts: [${more.members ?? `${id}, ${second}`}], installations: [${installation}] }
providers:
  - id: ${provider}
    name: Provider of ${id}
    slug: p
    icons: { small: "https://i.example/s", large: "https://i.example/l", color_code: "#0a5fb4", first_letter: P }
`
}

describeService('the fixture', {}, (service) => {
  const load = (text: string, now = new Date()) =>
    loadYaml(service().pool, `organizations:${text}`, { path: 'fixture.yaml', now })
  const askWith = (token: string, organizationId: number) => {
    return ask(service(), 'listDirectories', { token, organizationId })
  }

  test('takes a token as it is, as its hash, and from a file beside the fixture', async () => {
    await using dir = await tempDir()
    await writeFile(join(dir.path, 'token'), 'token-in-its-own-file\n')
    const scopes = 'scopes: [ORG_READ], expires: 1h'
    const tokens = [
      `{ token: plain-token-of-ada, ${scopes} }`,
      `{ sha256: ${hash('sha256', 'hashed-token')}, ${scopes} }`,
      `{ token: { file: token }, ${scopes} }`,
    ]
    const path = join(dir.path, 'fixture.yaml')
    await writeFile(path, `organizations:${organization(100, tokens.join(', '))}`)
    const context = { path, ...testContext() }
    const result = await loadFixture(service().pool, await readFixture(path), context)
    expect(result).toEqual({
      created: { organization: 1, contact: 1, token: 3 },
      different: [],
      leftOut: [],
      notRead: [],
    })
    for (const token of ['plain-token-of-ada', 'hashed-token', 'token-in-its-own-file']) {
      expect((await askWith(token, 100)).status).toBe(200)
    }
  })

  test('brings users and groups, thousands of them', async () => {
    const users = Array.from(
      { length: 2500 },
      (_, index) => `{ external_id: u${index}, name: User ${index} }`,
    )
    const groups = [`{ external_id: g, name: G, external_member_ids: [u1, u0, u1] }`]
    const directory = `{ id: 102, name: D, target_type: csv, doppler: true, users: [${users.join()}], groups: [${groups.join()}] }`
    await load(
      organization(102, '{ token: token-of-many-users, scopes: [ORG_READ], expires: 1h }', directory),
    )
    const request = { token: 'token-of-many-users', organizationId: 102, directoryId: 102 }
    expect((await ask(service(), 'listUsers', request)).headers.get('total')).toBe('2500')
    expect((await ask(service(), 'listGroups', request)).body).toEqual([
      { external_id: 'g', name: 'G', external_member_ids: ['u0', 'u1'] },
    ])
    expect((await ask(service(), 'getDirectory', request)).body).toEqual({
      id: 102,
      name: 'D',
      doppler: true,
      target_type: 'csv',
    })
  })

  test('brings what a contact may open, with times that count from the start', async () => {
    await load(access(110), new Date('2026-05-01T12:00:00Z'))
    const request = { token: 'token-of-ada-in-110', organizationId: 110, subscriptionId: 1101 }
    expect((await ask(service(), 'getSubscription', request)).body).toMatchObject({
      created_at: '2026-04-01T12:00:00.000+00:00',
      last_login: '2026-05-01T09:00:00.000+00:00',
      launch_url: 'https://app.example/110',
      login: 'ada',
      bookmarks: [{ name: 'Home', url: 'https://app.example' }, 'plain'],
      installation: {
        created_at: '2026-05-01T12:00:00.000+00:00',
        provider: { id: 110 },
        configuration: { extra: { region: 'eu', shards: [1, 2] }, login: null },
      },
      subscriber: { created_at: '2025-05-01T12:00:00.000+00:00' },
    })
    const query = 'select last_activity from access_management.contacts where id = 111'
    const { rows } = await service().pool.query<{ last_activity: Date | null }>(query)
    expect(rows).toEqual([{ last_activity: new Date('2026-04-29T12:00:00Z') }])
    expect((await ask(service(), 'listOrganizationGroups', request)).body).toMatchObject([
      { id: 110, contacts_count: 2, installations_count: 1, created_at: '2026-04-24T12:00:00.000+00:00' },
    ])
  })

  test('shows nothing of a vault item, and keeps no credentials as they are', async () => {
    await load(access(120))
    const request = { token: 'token-of-ada-in-120', organizationId: 120, subscriptionId: 1202 }
    expect((await ask(service(), 'getSubscription', request)).body).toMatchObject({
      login: '',
      password_strength: { grade: 'very weak', score: 0, crack_time: null },
    })
    const query = 'select s::text as row from access_management.subscriptions s where id in (1201, 1202)'
    const { rows } = await service().pool.query<{ row: string }>(query)
    expect(rows).toHaveLength(2)
    expect(JSON.stringify(rows)).not.toContain('hidden')
  })

  test('of a service that starts leaves an organization alone that is there, and creates the others', async () => {
    await using dir = await tempDir()
    const path = join(dir.path, 'fixture.yaml')
    const start = () => loadAtStart(service().pool, path, testContext())
    const first = organization(103, '{ token: { file: first }, scopes: [ORG_READ], expires: 1h }')
    await writeFile(join(dir.path, 'first'), 'token-of-the-first-day')
    await writeFile(path, `organizations:${first}`)
    await start()
    await rm(join(dir.path, 'first'))
    const late = '{ token: token-that-is-late, scopes: [ORG_READ], expires: 1h }'
    const wrong = first
      .replace(
        '{ token: {',
        '{ token: token-that-nobody-reads, scopes: [ORG_READ], expires: 1h }, { token: {',
      )
      .replace('email: ada@', 'email: ')
    await writeFile(path, `organizations:${wrong}${organization(104, late)}`)
    await expect(start()).resolves.toBeUndefined()
    expect((await askWith('token-of-the-first-day', 103)).status).toBe(200)
    expect((await askWith('token-that-is-late', 104)).status).toBe(200)
    expect(await askWith('token-that-nobody-reads', 103)).toMatchObject(problem(401))
    await writeFile(path, `organizations:${wrong}`)
    await expect(start()).resolves.toBeUndefined()
    await writeFile(path, 'organizations: []')
    await expect(start()).rejects.toMatchObject({ code: 'config-invalid' })
  })

  test('that uses what another organization has is refused, and nothing of it is created', async () => {
    const taken = organization(105, '') + organization(106, '', '{ id: 7, name: Taken }')
    await expect(load(taken)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('the id 7 of a directory'),
    })
    await expect(load(organization(105, ''))).resolves.toMatchObject({ created: { organization: 1 } })
    const token = `{ token: ${service().token}, scopes: [ORG], expires: 1h }`
    await expect(load(organization(107, token))).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.not.stringContaining(service().token),
    })
  })

  test('needs the token files of new contacts only, and names the others', async () => {
    await using dir = await tempDir()
    const path = join(dir.path, 'fixture.yaml')
    const importIt = async () =>
      loadFixture(service().pool, await readFixture(path), { path, ...testContext() })
    const perform = operatorOf(service())
    const text = organization(108, '{ token: { file: token }, scopes: [ORG_READ], expires: 1h }')
    await writeFile(path, `organizations:${text}`)
    await expect(importIt()).rejects.toMatchObject({
      code: 'secret-unavailable',
      message: expect.stringContaining(join(dir.path, 'token')),
    })
    await writeFile(join(dir.path, 'token'), 'too short')
    await expect(importIt()).rejects.toThrow(`token file ${join(dir.path, 'token')} does not hold a token`)
    await writeFile(join(dir.path, 'token'), 'token-of-the-first-import')
    await expect(importIt()).resolves.toMatchObject({ created: { token: 1 } })
    await rm(join(dir.path, 'token'))
    const notRead = [expect.stringContaining(`${join(dir.path, 'token')} does not exist`)]
    await expect(importIt()).resolves.toEqual({ created: {}, different: [], leftOut: [], notRead })
    await perform('removeResource', { resource: 'contact', id: 108, withContents: true })
    await expect(importIt()).resolves.toEqual({
      created: {},
      different: [],
      leftOut: ['contact 108'],
      notRead: [],
    })
    await perform('removeResource', { resource: 'organization', id: 108, withContents: true })
    await expect(importIt()).resolves.toEqual({
      created: {},
      different: [],
      leftOut: ['organization 108'],
      notRead: [],
    })
    await expect(loadAtStart(service().pool, path, testContext())).resolves.toBeUndefined()
  })

  test('may refer to what only the store has', async () => {
    await load(access(170))
    const url = 'https://moved.example'
    await operatorOf(service())('changeResource', {
      resource: 'installation',
      id: 170,
      values: { configuration: { url } },
    })
    const more = `
  - id: 170
    name: Organization 170
    allowedDomains: [example.org]
    installations: [{ id: 175, provider: 170, name: Second, slug: second, configuration: { url: "https://second.example" } }]
    contacts:
      - { id: 175, name: Late, email: late@example.org, tokens: [{ token: token-of-the-late-one, scopes: [USER_READ], expires: 1d }],
          subscriptions: [{ id: 1750, installation: 170, name: App, credentials: { login: l, password: p } }] }
    groups: [{ id: 175, name: Both, contacts: [171, 175], installations: [170, 175] }]
`
    expect((await load(more)).created).toEqual({
      contact: 1,
      token: 1,
      installation: 1,
      subscription: 1,
      group: 1,
    })
    const own = { token: 'token-of-the-late-one', organizationId: 170, subscriptionId: 1750 }
    expect((await ask(service(), 'getSubscription', own)).body).toMatchObject({ launch_url: url })
    await expect(load(access(180, { members: '171' }))).rejects.toThrow(
      'organizations[0].groups[0].contacts[0]: there is no contact 171, neither here nor in the store',
    )
    await operatorOf(service())('removeResource', { resource: 'installation', id: 170, withContents: true })
    expect((await load(more)).leftOut).toEqual(['subscription 1750', 'installation 170 of group 175'])
  })
})
