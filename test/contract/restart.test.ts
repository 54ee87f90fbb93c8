import { expect, describe, test } from 'vitest'
import { migrateService } from '../../src/service/store/migrations/index.ts'
import { FIXTURE_YAML } from '../support/fixture.ts'
import { loadYaml, startService } from '../support/service.ts'
import { ask } from './api.ts'
import { backends } from './backends.ts'

describe.each(backends)('a service that is started again, on $name', ({ create }) => {
  test('has everything it had, and leaves the organizations of the fixture alone', async () => {
    await using stack = new AsyncDisposableStack()
    const backend = await create()
    stack.defer(() => backend.remove())

    const firstPool = await backend.open()
    const first = await startService({ pool: firstPool })
    await ask(first, 'createUsers', { json: { users: [{ external_id: 'kept', name: 'Kept Person' }] } })
    const group = { external_id: 'kept', name: 'Kept', external_member_ids: ['kept'] }
    await ask(first, 'createGroups', { json: { groups: [group] } })
    const before = await ask(first, 'listUsers')
    await first.close()
    await firstPool.end()

    const secondPool = stack.adopt(await backend.open(), (pool) => pool.end())
    const changed = FIXTURE_YAML.replace('name: Corporate', 'name: Renamed in the fixture')
    const second = stack.adopt(await startService({ pool: secondPool, fixture: changed }), (service) =>
      service.close(),
    )
    expect((await ask(second, 'listUsers')).body).toEqual(before.body)
    expect((await ask(second, 'getGroup', { externalId: 'kept' })).body).toEqual(group)
    expect((await ask(second, 'getDirectory')).body).toMatchObject({ name: 'Corporate' })
  })

  test('two that start at once on an empty store make its tables and its fixture once', async () => {
    await using stack = new AsyncDisposableStack()
    const backend = await create()
    stack.defer(() => backend.remove())
    const pool = stack.adopt(await backend.open(), (opened) => opened.end())
    const start = async () => {
      await migrateService(pool)
      return loadYaml(pool, FIXTURE_YAML)
    }
    const results = await Promise.all([start(), start(), start()])
    expect(results.map(({ created }) => created.organization ?? 0).toSorted((a, b) => a - b)).toEqual([
      0, 0, 2,
    ])
    const { rows } = await pool.query('select count(*)::int as users from access_management.external_users')
    expect(rows).toEqual([{ users: 1 }])
  })

  test('keeps no token as it is', async () => {
    await using stack = new AsyncDisposableStack()
    const backend = await create()
    stack.defer(() => backend.remove())
    const pool = stack.adopt(await backend.open(), (opened) => opened.end())
    await migrateService(pool)
    await loadYaml(pool, FIXTURE_YAML)
    const { rows } = await pool.query('select t::text as row from access_management.tokens t')
    expect(rows).toHaveLength(9)
    expect(JSON.stringify(rows)).not.toMatch(/token-of-(organization|ada|ben)/)
  })
})
