import { expect, test } from 'vitest'
import type { Perform } from '../../src/service/admin/perform.ts'
import { parseYaml } from '../../src/service/fixture/read.ts'
import type { ResourceName } from '../../src/service/resources/resources.ts'
import { hashToken } from '../../src/service/store/tokens.ts'
import { ask, problem } from '../contract/api.ts'
import { describeService } from '../contract/with-service.ts'
import { during } from '../support/during.ts'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import { operatorOf } from '../support/operator.ts'

/** What an operator does, on a service that runs; the commands are tested elsewhere. */

const PROVIDER = {
  name: 'Meridian',
  slug: 'meridian',
  icons: {
    small: 'https://i.example/s',
    large: 'https://i.example/l',
    color_code: '#0a5fb4',
    first_letter: 'M',
  },
  capabilities: { has_password_reset: true },
}

function lockDirectory(id: number): string {
  return `select from access_management.directories where id = ${id} for update`
}

function countEvent(organizationId: number): string {
  return `update access_management.organizations set event_count = event_count + 1 where id = ${organizationId}`
}

describeService('an operator', {}, (service) => {
  const perform: Perform = (operation, input) => operatorOf(service())(operation, input)
  const create = (resource: ResourceName, values: object, ownerId?: number) =>
    perform('createResource', { resource, ownerId, values: { ...values } })
  const change = (resource: ResourceName, id: number, values: object, lists: object = {}) =>
    perform('changeResource', { resource, id, values: { ...values }, ...lists })
  const remove = (resource: ResourceName, id: number, withContents = false) =>
    perform('removeResource', { resource, id, withContents })
  const list = (resource: ResourceName, ownerId?: number) => perform('listResources', { resource, ownerId })

  const createOf = (id: string) =>
    ask(service(), 'createUsers', { json: { users: [{ external_id: id, email: `${id}@new.example` }] } })

  /** Ada's view with the token that the fixture gave her. */
  const subscription = (subscriptionId: number) =>
    ask(service(), 'getSubscription', { subscriptionId, token: FIXTURE.userToken })

  test('makes an application that a contact opens, changes it and takes it away', async () => {
    const provider = await create('provider', PROVIDER)
    const installation = await create(
      'installation',
      { provider: provider.id, name: 'CRM', slug: 'crm', configuration: { url: 'https://crm.example' } },
      FIXTURE.organizationId,
    )
    const credentials = { login: 'ada', password: 'a-planted-secret' }
    const made = await create(
      'subscription',
      { installation: installation.id, name: 'CRM', credentials },
      FIXTURE.contactId,
    )
    expect(made).toMatchObject({ contact: FIXTURE.contactId, launch_url: 'https://crm.example', kind: 'app' })
    expect(JSON.stringify([made, await list('subscription')])).not.toMatch(/a-planted-secret|credentials/)

    const request = { subscriptionId: made.id, token: FIXTURE.userToken }
    expect((await ask(service(), 'readCredentials', request)).body).toEqual(credentials)
    await change('installation', installation.id, { configuration: { namespace: ['a'] } })
    await change('subscription', made.id, { permissions: { can_view_password: false } })
    expect((await subscription(made.id)).body).toMatchObject({
      login: 'ada',
      permissions: { can_view_password: false, can_reset_password: true },
      installation: {
        configuration: { url: 'https://crm.example', namespace: ['a'] },
        provider: { name: 'Meridian' },
      },
    })
    expect(await ask(service(), 'readCredentials', request)).toMatchObject(problem(403))
    await change('subscription', made.id, { credentials: { login: 'ada', password: 'another' } })
    await change('subscription', made.id, { permissions: { can_view_password: true } })
    expect((await ask(service(), 'readCredentials', request)).body).toMatchObject({ password: 'another' })

    await expect(remove('provider', provider.id)).rejects.toThrow(
      'has 1 installation, 1 subscription; nothing is removed',
    )
    expect(await remove('provider', provider.id, true)).toMatchObject({
      with: '1 installation, 1 subscription',
    })
    expect(await subscription(made.id)).toMatchObject(problem(404))
  })

  test('changes a subscription while its contact does, and nothing is lost', async () => {
    const id = FIXTURE.samlSubscriptionId
    const before = (await subscription(id)).body as { favorite: boolean }
    const favor = `update access_management.subscriptions set favorite = not favorite where id = ${id}`
    await during(service(), [favor], () =>
      change('subscription', id, { permissions: { can_reset_password: false } }),
    )
    expect((await subscription(id)).body).toMatchObject({
      favorite: !before.favorite,
      permissions: { can_reset_password: false },
    })
  })

  test('opens a domain for the e-mail addresses of an organization, and closes it', async () => {
    expect(await createOf('one')).toMatchObject(problem(422))
    await change('organization', FIXTURE.organizationId, {}, { add: { allowedDomains: ['New.Example'] } })
    expect((await createOf('one')).status).toBe(201)
    await change('organization', FIXTURE.organizationId, {}, { remove: { allowedDomains: ['new.example'] } })
    expect(await createOf('two')).toMatchObject(problem(422))
  })

  test.each([
    [
      'a number as a secret',
      'subscription',
      FIXTURE.samlSubscriptionId,
      { credentials: { login: 'a', password: 1 } },
      '--credentials: password must be text; put it into quotes.',
    ],
    [
      'the installation of another organization',
      'subscription',
      FIXTURE.samlSubscriptionId,
      { installation: 41 },
      'There is no installation 41 of organization 1;',
    ],
    ['a provider that does not exist', 'installation', 31, { provider: 99 }, 'There is no provider 99;'],
    [
      'what does not exist',
      'directory',
      99,
      { name: 'X' },
      'There is no directory 99; access-service directory list',
    ],
  ] as const)(
    'is told what is wrong with %s, and nothing changes',
    async (_name, resource, id, values, sentence) => {
      const before = await list(resource)
      await expect(change(resource, id, values)).rejects.toThrow(sentence)
      expect(await list(resource)).toEqual(before)
    },
  )

  test('is told that a change changes nothing, and that what is to be removed is not there', async () => {
    const same = await change(
      'organization',
      FIXTURE.organizationId,
      {},
      { add: { allowedDomains: ['EXAMPLE.org'] } },
    )
    expect(same).toMatchObject({ changed: false, allowedDomains: ['example.org'] })
    const typo = change(
      'organization',
      FIXTURE.organizationId,
      {},
      { remove: { allowedDomains: ['exmaple.org'] } },
    )
    await expect(typo).rejects.toThrow('There is no domain exmaple.org to remove; nothing is changed.')
    const wrong = change('organization', FIXTURE.organizationId, {}, { add: { allowedDomains: ['a b'] } })
    await expect(wrong).rejects.toThrow('--add-domain must be a domain')
    await expect(list('contact', 99)).rejects.toThrow('There is no organization 99;')
  })

  test('gives no id of a removed resource again, whatever it went with', async () => {
    const organization = await create('organization', { name: 'Gone', allowedDomains: ['gone.example'] })
    const contact = await create('contact', { name: 'Gone', email: 'a@gone.example' }, organization.id)
    await remove('organization', organization.id, true)
    const next = await create('organization', { name: 'Next', allowedDomains: ['next.example'] })
    expect(next.id).toBe(organization.id + 1)
    const someone = await create('contact', { name: 'Someone', email: 'b@next.example' }, next.id)
    expect(someone.id).toBe(contact.id + 1)
    await service().pool.query(`insert into access_management.removed_resources values ('group', 2147483647)`)
    await expect(create('group', { name: 'One too many' }, next.id)).rejects.toThrow(
      'No id is left for another group',
    )
  })

  test('removes a directory that the API fills meanwhile only when asked for the users', async () => {
    const directory = await create('directory', { name: 'Filling' }, FIXTURE.organizationId)
    const fill = `insert into access_management.external_users (directory_id, external_id) values (${directory.id}, 'x')`
    const removing = during(service(), [lockDirectory(directory.id), fill], () =>
      remove('directory', directory.id),
    )
    await expect(removing).rejects.toThrow('has 1 directory user; nothing is removed')
    await remove('directory', directory.id, true)
  })

  test('removes an organization whose directory the API fills meanwhile', async () => {
    const { id } = await create('organization', { name: 'Busy', allowedDomains: ['busy.example'] })
    const directory = await create('directory', { name: 'People' }, id)
    const removing = during(service(), [lockDirectory(directory.id), countEvent(id)], () =>
      remove('organization', id, true),
    )
    await expect(removing).resolves.toMatchObject({ with: '1 directory' })
    await expect(change('organization', id, { name: 'X' })).rejects.toThrow('There is no organization')
  })

  test('removes a contact with the tokens, and only when asked for all', async () => {
    const contact = await create('contact', { name: 'Eve', email: 'eve@example.org' }, FIXTURE.organizationId)
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    await perform('addToken', { contactId: contact.id, hash: 'f'.repeat(64), scopes: ['ORG'], expiresAt })
    await expect(remove('contact', contact.id)).rejects.toThrow(
      `The contact ${contact.id} has 1 token; nothing`,
    )
    await remove('contact', contact.id, true)
    const tokens = await perform('listTokens', {})
    expect(tokens.filter(({ contactId }) => contactId === contact.id)).toEqual([])
  })

  test('removes a user that no endpoint can remove, and the list counts right', async () => {
    const emailOnly = { json: { users: [{ email: 'nobody@example.org' }] } }
    const created = await ask(service(), 'createUsers', emailOnly)
    const [{ id }] = created.body as [{ id: number }]
    await ask(service(), 'createUsers', { json: { users: [{ external_id: 'somebody' }] } })
    const listed = await perform('listUsersWithoutId', { directoryId: FIXTURE.directoryId })
    expect(listed).toEqual([{ id, directory: FIXTURE.directoryId, name: null, email: 'nobody@example.org' }])
    const total = async () => Number((await ask(service(), 'listUsers')).headers.get('total'))
    const before = await total()
    await expect(perform('removeUsersWithoutId', { ids: [id, id + 1] })).rejects.toThrow(
      `There is no user ${id + 1} without an external id`,
    )
    expect(await total()).toBe(before)
    const answers = await Promise.allSettled([
      perform('removeUsersWithoutId', { ids: [id] }),
      perform('removeUsersWithoutId', { ids: [id] }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await total()).toBe(before - 1)
    expect(await perform('listUsersWithoutId', {})).toEqual([])
  })
})

describeService('an operator of what is there for long', {}, (service) => {
  const change = (resource: ResourceName, id: number, values: object) =>
    operatorOf(service())('changeResource', { resource, id, values: { ...values } })

  test('changes a subscription whose contact has given it a name that an operator may not', async () => {
    const { bensSubscriptionId: id, contactId } = FIXTURE
    await service().pool.query(
      "update access_management.contacts set email = 'zoë@example.org' where id = $1",
      [contactId],
    )
    await service().pool.query(
      "update access_management.subscriptions set name = repeat('x', 300) where id = $1",
      [id],
    )
    await expect(change('subscription', id, { requires_mfa_code: true })).resolves.toMatchObject({
      changed: true,
    })
    await change('contact', contactId, { name: 'Zoë' })
    await expect(change('subscription', id, { name: 'y'.repeat(300) })).rejects.toThrow('--name must not')
    await expect(change('contact', contactId, { email: 'zoé@example.org' })).rejects.toThrow('--email must')
    const { different } = await operatorOf(service())('importFixture', {
      path: 'f.yaml',
      content: parseYaml(FIXTURE_YAML, 'f.yaml'),
    })
    expect(different).toEqual([`name of contact ${contactId}`, `email of contact ${contactId}`])
  })

  test('moves an application, and who opened it at the old address opens it at the new one', async () => {
    const { samlSubscriptionId, bensSubscriptionId } = FIXTURE
    const own = 'https://own.example'
    await change('subscription', bensSubscriptionId, { launch_url: own })
    await change('installation', 31, { configuration: { url: 'https://new.example' } })
    const { rows } = await service().pool.query(
      'select id, launch_url from access_management.subscriptions where id = any($1) order by id',
      [[samlSubscriptionId, bensSubscriptionId]],
    )
    expect(rows).toEqual([
      { id: samlSubscriptionId, launch_url: 'https://new.example' },
      { id: bensSubscriptionId, launch_url: own },
    ])
  })

  test('removes an organization with its history and its SAML keys, and only when asked for all', async () => {
    const perform = operatorOf(service())
    await ask(service(), 'createUsers', { json: { users: [{ external_id: 'historic', name: 'H' }] } })
    await perform('createSamlKey', { organizationId: 1 })
    const remove = (withContents: boolean) =>
      perform('removeResource', { resource: 'organization', id: 1, withContents })
    await expect(remove(false)).rejects.toThrow(/1 SAML key, \d+ events?; nothing is removed/)
    expect((await remove(true)).with).toMatch(/1 SAML key, \d+ event/)
    const { rows } = await service().pool.query(
      'select count(*)::int as events from access_management.events where organization_id = 1',
    )
    expect(rows).toEqual([{ events: 0 }])
  })
})

describeService('an import', {}, (service) => {
  const importYaml = (yaml: string) =>
    operatorOf(service())('importFixture', { path: 'f.yaml', content: parseYaml(yaml, 'f.yaml') })

  test('of what is there already creates nothing', async () => {
    expect(await importYaml(FIXTURE_YAML)).toEqual({ created: {}, different: [], leftOut: [], notRead: [] })
  })

  test('leaves what exists as it is, and names what an operator has made different', async () => {
    const { contactId, benId, groupId, directoryId, samlSubscriptionId } = FIXTURE
    const own = { subscriptionId: samlSubscriptionId, token: FIXTURE.userToken }
    const perform = operatorOf(service())
    const change = (
      name: ResourceName,
      id: number,
      input: Partial<Parameters<typeof perform<'changeResource'>>[1]>,
    ) => perform('changeResource', { resource: name, id, values: {}, add: {}, remove: {}, ...input })
    await ask(service(), 'updateSubscription', {
      ...own,
      token: FIXTURE.userWriteToken,
      json: { name: 'Mine', favorite: true, position: 9 },
    })
    await change('contact', benId, { values: { status: 'blocked' } })
    await change('organization', 1, { add: { allowedDomains: ['example.net'] } })
    await change('group', groupId, { remove: { contacts: [contactId] } })
    const before = (await ask(service(), 'getSubscription', own)).body

    const edited = FIXTURE_YAML.replace('name: Corporate', 'name: Renamed')
      .replace('email: ben@example.org', 'email: ben@example.org\n        status: active')
      .replace('scopes: [ORG]', 'scopes: [ORG, USER]')
    const { created, different } = await importYaml(edited)
    expect(created).toEqual({})
    expect(different.toSorted()).toEqual([
      'allowedDomains of organization 1',
      `contacts of group ${groupId}`,
      `name of directory ${directoryId}`,
      `scopes of a token of contact ${contactId}`,
      `status of contact ${benId}`,
    ])
    expect((await ask(service(), 'getSubscription', own)).body).toEqual(before)
    expect((await ask(service(), 'getDirectory')).body).toMatchObject({ name: 'Corporate' })
    expect(await ask(service(), 'listSubscriptions', { token: FIXTURE.benToken })).toMatchObject(problem(401))
  })

  test('brings no user back that a client of the API deleted, and no event that is gone', async () => {
    const directory = { organizationId: 1, directoryId: FIXTURE.directoryId }
    const withUsers = `organizations:
  - id: 90
    name: Second
    allowedDomains: [example.org]
    contacts: [{ id: 90, name: Clerk, email: c@example.org, tokens: [{ token: token-of-the-clerk, scopes: [ORG, ORG_READ], expires: 1d }] }]
    directories: [{ id: 90, name: D, users: [{ external_id: leaver, name: L }], groups: [{ external_id: g, name: G }] }]
    events: [{ type: t, operation: update, at: 5d, description: { en: E. }, actor: 90 }]`
    const created = { organization: 1, contact: 1, token: 1, directory: 1, event: 1 }
    expect(await importYaml(withUsers)).toMatchObject({
      created: { ...created, 'directory user': 1, 'directory group': 1 },
    })
    const there = { ...directory, token: 'token-of-the-clerk', organizationId: 90, directoryId: 90 }
    expect((await ask(service(), 'deleteUser', { ...there, externalId: 'leaver' })).status).toBe(204)
    await service().pool.query('delete from access_management.events where organization_id = 90')
    expect(await importYaml(withUsers)).toEqual({ created: {}, different: [], leftOut: [], notRead: [] })
    expect((await ask(service(), 'listUsers', there)).body).toEqual([])
  })

  test('brings nothing back that an operator took away, nor what belongs to it', async () => {
    const perform = operatorOf(service())
    await perform('revokeToken', { id: hashToken(FIXTURE.userToken).slice(0, 12) })
    await perform('removeResource', { resource: 'contact', id: FIXTURE.benId, withContents: true })
    const newcomer = await perform('createResource', {
      resource: 'contact',
      ownerId: FIXTURE.organizationId,
      values: { name: 'Newcomer', email: 'new@example.org' },
    })
    expect(newcomer.id).not.toBe(FIXTURE.benId)
    const { created, leftOut } = await importYaml(FIXTURE_YAML)
    expect(created).toEqual({})
    expect(leftOut.toSorted()).toEqual([
      `a revoked token of contact ${FIXTURE.contactId}`,
      `contact ${FIXTURE.benId}`,
    ])
    expect(await ask(service(), 'listSubscriptions', { token: FIXTURE.userToken })).toMatchObject(
      problem(401),
    )
    expect(await ask(service(), 'listSubscriptions', { token: FIXTURE.benToken })).toMatchObject(problem(401))
  })

  test('that is wrong in one place changes nothing', async () => {
    const wrong = FIXTURE_YAML.replace('name: Corporate', 'name: X').replace('status: pending', 'status: ""')
    await expect(importYaml(wrong)).rejects.toMatchObject({ code: 'config-invalid' })
    expect((await ask(service(), 'getDirectory')).body).toMatchObject({ name: 'Corporate' })
  })
})
