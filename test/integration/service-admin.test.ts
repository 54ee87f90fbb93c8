import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { newKeyLine } from '../../src/service/keys/vault.ts'
import { createDatabase } from '../support/databases.ts'
import { FIXTURE } from '../support/fixture.ts'
import { operatorOf } from '../support/operator.ts'
import { startService } from '../support/service.ts'
import { beginEmptyService, one, openAdminSite, rotateKeysOfService } from './service-admin.ts'

test('from an empty service to a request: commands create what it needs before it runs', async () => {
  await beginEmptyService(await createDatabase(), false)
})

test('key rotate seals everything again, says which key may go, and rotates nothing with a wrong key file', async () => {
  await rotateKeysOfService('embedded')
})

test('with other keys than those of the store, no command writes', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openAdminSite(stack)
  await one(site, 'import', join(site.dir, 'fixture.yaml'))
  await site.write('secrets', '{ login: a, password: b }')
  const create = ['subscription', 'create', '--contact', '11', '--installation', '31', '--name', 'S']
  for (const [keys, sentence] of [
    [newKeyLine('k1'), 'The key k1 of the key file does not decrypt'],
    [newKeyLine('k2'), 'encrypted with the key k1, which is not in the key file'],
  ] as const) {
    await site.write('keys', keys)
    for (const args of [
      [...create, '--credentials', join(site.dir, 'secrets')],
      ['saml', 'key', 'create', '--organization', '1'],
      ['key', 'rotate'],
    ]) {
      const { code, stderr } = await site.run(...args)
      expect([code, stderr]).toEqual([78, expect.stringContaining(sentence)])
    }
  }
  const { lines } = await site.json('subscription', 'list', '--contact', '11')
  expect(lines).toHaveLength(3)
})

test('what is not there, or not allowed, is one sentence', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openAdminSite(stack)
  await one(site, 'import', join(site.dir, 'fixture.yaml'))
  const refused = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await site.run(...args)
    expect(stdout).toBe('')
    return [code, stderr.trimEnd()]
  }
  const contact = ['contact', 'create', '--name', 'X']
  expect(await refused(...contact, '--organization', '99', '--email', 'x@a.org')).toEqual([
    1,
    'There is no organization 99; access-service organization list shows those that exist.',
  ])
  expect(await refused(...contact, '--organization', '1', '--email', 'nobody')).toEqual([
    64,
    '--email must be an e-mail address.',
  ])
  expect(await refused('token', 'create', '--contact', '11', '--scope', 'ALL')).toEqual([
    64,
    'The scope must be one of ORG_READ, ORG, USER_READ, USER.',
  ])
  const past = ['--expires', '2020-01-01T00:00:00Z']
  expect(await refused('token', 'create', '--contact', '11', '--scope', 'ORG', ...past)).toEqual([
    64,
    'The token would expire at 2020-01-01T00:00:00.000Z, which is in the past.',
  ])
  const unitless = ['--expires', '365']
  expect(await refused('token', 'create', '--contact', '11', '--scope', 'ORG', ...unitless)).toEqual([
    64,
    expect.stringContaining('It must be a duration such as 30d'),
  ])
  expect(await refused('token', 'revoke', '0123456789ab')).toEqual([
    1,
    'There is no token 0123456789ab; access-service token list shows those that exist.',
  ])
  for (const [command, ...args] of [
    ['contact create', '99999999999', '--email', 'x@a.org'],
    ['contact list', '99999999999'],
    ['saml key list', '0'],
  ] as const) {
    expect(await refused(...command.split(' '), '--organization', ...args)).toEqual([
      64,
      `Option '--organization <number>' argument '${args[0]}' is invalid. It must be ` +
        `a whole number from 1 to 2147483647; see access-service ${command} --help.`,
    ])
  }
  for (const wrong of ['0', '-1', '2147483648', 'x']) {
    expect(await refused('user', 'remove', '1', wrong)).toEqual([
      64,
      `Command-argument value '${wrong}' is invalid for argument 'ids'. It must be a whole number from 1 to 2147483647; ` +
        'see access-service user remove --help.',
    ])
  }
  expect(await refused('user', 'list', '--directory', '99')).toEqual([
    1,
    'There is no directory 99; access-service directory list shows those that exist.',
  ])
  expect(await refused('token', 'list', '--contact', '999')).toEqual([
    1,
    'There is no contact 999; access-service contact list shows those that exist.',
  ])
  await site.write('secrets', '{ "__proto__": hidden-secret, login: a, password: b }')
  const subscription = ['subscription', 'change', '101', '--credentials', join(site.dir, 'secrets')]
  expect(await refused(...subscription)).toEqual([
    64,
    `${join(site.dir, 'secrets')} must not use the name "__proto__"; give the secret another name.`,
  ])
  expect(await refused('organization', 'create', '--name', ' ', '--domain', '@a')).toEqual([
    64,
    '--name must not be empty. --domain must be a domain such as example.org, without @.',
  ])
})

test('a token is not revoked by the beginning of an id that another one has, too', async () => {
  await using stack = new AsyncDisposableStack()
  const service = stack.adopt(await startService(), (running) => running.close())
  const perform = operatorOf(service)
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  for (const hash of [`abcdef${'0'.repeat(58)}`, `abcdef${'1'.repeat(58)}`]) {
    await perform('addToken', { contactId: FIXTURE.contactId, hash, scopes: ['ORG'], expiresAt })
  }
  const count = async () => (await perform('listTokens', {})).length
  const before = await count()
  await expect(perform('revokeToken', { id: 'abcdef' })).rejects.toThrow(
    'Several tokens have an id that begins',
  )
  expect(await count()).toBe(before)
  expect(await perform('revokeToken', { id: 'abcdef0' })).toMatchObject({ id: 'abcdef000000' })
  expect(await count()).toBe(before - 1)
})

test('organizations that two commands create at once on PostgreSQL get different ids', async () => {
  await using stack = new AsyncDisposableStack()
  const store = await createDatabase()
  const site = await openAdminSite(stack, { store, fixture: false })
  const create = (name: string) => one(site, 'organization', 'create', '--name', name, '--domain', 'a.org')
  expect(await create('first')).toMatchObject({ id: 1 })
  const other = new Client({ connectionString: store })
  await other.connect()
  stack.defer(() => other.end())
  // Nobody begins before all are there.
  await other.query('begin; lock table access_management.organizations')
  const creating = Promise.all(['a', 'b'].map(create))
  const waiting =
    'select 1 from pg_locks join pg_database d on d.oid = database where datname = current_database() and not granted'
  await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(2)
  await other.query('commit')
  expect((await creating).map(({ id }) => id).toSorted()).toEqual([2, 3])
})
