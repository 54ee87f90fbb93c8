import { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { FIXTURE_YAML } from '../support/fixture.ts'
import { loadYaml, startService } from '../support/service.ts'
import { ask } from './api.ts'
import { makeServiceTables } from '../support/service-tables.ts'

/** Opens a pool on the database until the end of the test. */
function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString })
  // The end of the test run reaches connections that the end of the pool has not yet closed.
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return pool
}

test('a service that is started again has everything it had, and changes no organization of the fixture', async () => {
  const url = await createDatabase(SERVICE_TEMPLATE)
  const first = await startService({ pool: openPool(url) })
  await ask(first, 'createUsers', { json: { users: [{ external_id: 'kept', name: 'Kept Person' }] } })
  const group = { external_id: 'kept', name: 'Kept', external_member_ids: ['kept'] }
  await ask(first, 'createGroups', { json: { groups: [group] } })
  const before = await ask(first, 'listUsers')
  await first.close()

  const changed = FIXTURE_YAML.replace('name: Corporate', 'name: Renamed in the fixture')
  const second = await startService({ pool: openPool(url), fixture: changed })
  onTestFinished(() => second.close())
  expect((await ask(second, 'listUsers')).body).toEqual(before.body)
  expect((await ask(second, 'getGroup', { externalId: 'kept' })).body).toEqual(group)
  expect((await ask(second, 'getDirectory')).body).toMatchObject({ name: 'Corporate' })
})

test('three services that start at once on an empty database make its tables and its fixture once', async () => {
  const pool = openPool(await createDatabase())
  const start = async () => {
    await makeServiceTables(pool)
    return loadYaml(pool, FIXTURE_YAML)
  }
  const results = await Promise.all([start(), start(), start()])
  const organizations = results.map(({ created }) => created.organization ?? 0)
  expect(organizations.toSorted((a, b) => a - b)).toEqual([0, 0, 2])
  const { rows: users } = await pool.query(
    'select count(*)::int as many from access_management.external_users',
  )
  expect(users).toEqual([{ many: 1 }])
})

test('the store keeps no token as it is', async () => {
  const pool = openPool(await createDatabase(SERVICE_TEMPLATE))
  await loadYaml(pool, FIXTURE_YAML)
  const { rows } = await pool.query('select t::text as row from access_management.tokens t')
  expect(rows).toHaveLength(9)
  expect(JSON.stringify(rows)).not.toMatch(/token-of-(organization|ada|ben)/)
})
