import { join } from 'node:path'
import { Migrator, type Migration } from 'kysely/migration'
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { createKeyPair } from '../../src/service/saml/signing-key.ts'
import { openDatabase, SCHEMA } from '../../src/service/store/database.ts'
import { createOrganizations } from '../../src/service/store/migrations/0001-organizations.ts'
import { createEntries } from '../../src/service/store/migrations/0002-entries.ts'
import { createSubscriptions } from '../../src/service/store/migrations/0003-subscriptions.ts'
import { createEvents } from '../../src/service/store/migrations/0004-events.ts'
import { createBlocks } from '../../src/service/store/migrations/0005-blocks.ts'
import { currentSigningKey, addSigningKey } from '../../src/service/store/signing-keys.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { runSql } from '../support/postgres.ts'
import { openSite } from '../support/site.ts'
import { startForTest, testVault } from '../support/service.ts'
import { ask, problem } from '../contract/api.ts'

/** The tables as the first version of the service made them. */
const FIRST: Record<string, Migration> = {
  '0001-organizations': { up: createOrganizations },
  '0002-entries': { up: createEntries },
  '0003-subscriptions': { up: createSubscriptions },
  '0004-events': { up: createEvents },
  '0005-blocks': { up: createBlocks },
}

test('a store of the first version keeps its permissions, its entity ids and its keys', async () => {
  const pool = new Pool({ connectionString: await createDatabase() })
  await using _stack = { [Symbol.asyncDispose]: () => pool.end() }
  pool.on('error', () => {})
  const { error } = await new Migrator({
    db: openDatabase(pool),
    provider: { getMigrations: () => Promise.resolve(FIRST) },
    migrationTableSchema: SCHEMA,
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
  }).migrateToLatest()
  expect(error).toBeUndefined()
  const key = await createKeyPair(4, new Date())
  await pool.query(`
    set search_path = access_management;
    insert into organizations values (4, 'Old', '{old.example}', now());
    insert into contacts values (41, 4, 'Olga', 'olga@old.example');
    insert into tokens values (encode(sha256('old-token'), 'hex'), 41, '{USER_READ,USER}', now() + '1 day', now());
    insert into providers values (9, 'P', 'p', 'form', 30, '{"small":"https://i.example/s","large":"https://i.example/l","color_code":"#000000","first_letter":"P"}', '{"has_sync":false,"has_saml":false,"has_provision":false,"has_password_reset":true,"has_import":false,"unsupported_browsers":[]}');
    insert into installations values (91, 4, 9, 'I', 'i', 'active', now(), '[]', false, null, '{"url":"https://i.example","saml":false,"namespace":[],"authentication_type":"password","install_type":"manual","extra":null,"login":null}', null);
    insert into subscriptions values (911, 41, 91, 'app', 'S', 'active', now(), false, 0, null, 'https://i.example', false, 'olga', '[]', '{"grade":"fair","score":2,"crack_time":1}', false, true, 'sealed', 'test')`)
  const sealed = testVault().seal(key.privateKey, 'identity-provider:4')
  await pool.query(`insert into access_management.identity_providers values (4, $1, $2, 'test', now())`, [
    key.certificate,
    sealed,
  ])

  const service = await startForTest({ pool })
  const request = { organizationId: 4, token: 'old-token', subscriptionId: 911 }
  const shown = await ask(service, 'getSubscription', request)
  expect(shown).toMatchObject({
    status: 200,
    body: {
      name: 'S',
      permissions: { can_view_password: false, can_reset_password: true },
      installation: { name: 'I', provider: { name: 'P' } },
    },
  })
  expect(await ask(service, 'readCredentials', request)).toMatchObject(problem(403))
  const db = openDatabase(pool)
  expect(await currentSigningKey(db, testVault(), 4, new Date())).toEqual(key)
  const next = await db.transaction().execute((trx) => {
    return addSigningKey(trx, testVault(), { organizationId: 4, current: false, pair: key }, new Date())
  })
  expect(next).toBe(5)
  const { rows } = await pool.query('select entity_id from access_management.organizations where id = 4')
  expect(rows).toEqual([{ entity_id: 'urn:access-management:organization:4' }])
})

test.each([
  [
    'an older',
    'delete from access_management.migrations where name = (select max(name) from access_management.migrations)',
    /^The store of the service was last used by an older dirsyncd: its tables end at step \S+, and this version needs \S+\. Start the service of this version with it, which upgrades it\.\n$/,
  ],
  [
    'a newer',
    "insert into access_management.migrations values ('9999-later', '2030-01-01')",
    /^The store of the service was last used by a newer dirsyncd \(its tables have step 9999-later, which this version does not know\)\. Install that version or a newer one\.\n$/,
  ],
])('a command leaves the store of %s version as it is', async (_which, change, said) => {
  const url = await createDatabase(SERVICE_TEMPLATE)
  const pool = new Pool({ connectionString: url })
  await using _stack = { [Symbol.asyncDispose]: () => pool.end() }
  await pool.query(change)
  const steps = async () =>
    (await pool.query('select name from access_management.migrations order by 1')).rows
  const before = await steps()
  await using site = await openSite({ program: 'access-service' })
  await site.configure({ dataDir: './data', service: { store: url, keyFile: './keys' } })
  const { code, stderr } = await site.run('organization', 'list')
  expect(code).toBe(1)
  expect(stderr).toMatch(said)
  expect(await steps()).toEqual(before)
})

test('a user who may not make the tables of the service is told what is missing', async () => {
  const url = await createDatabase()
  await runSql(url, `do $$ begin create role looker login; exception when duplicate_object then null; end $$`)
  await using site = await openSite({ program: 'access-service' })
  const store = url.replace(/\/\/[^@]*@/, '//looker@')
  await site.configure({ dataDir: './data', service: { store, keyFile: './keys' } })
  await site.run('key', 'create', join(site.dir, 'keys'))
  for (const command of [['start'], ['organization', 'list']]) {
    const { code, stderr } = await site.run(...command, '--log-level', 'error')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^The store of the service, database \w+, is empty, and its user looker may not make the tables: permission denied for database \w+; grant the user CREATE on the database\.\n$/,
    )
  }
})
