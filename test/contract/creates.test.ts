import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import type { RunningService } from '../support/service.ts'
import { ask } from './api.ts'
import { describeService } from './with-service.ts'

/** The statements of the pool while `work` runs: each query of a pool takes one client. */
async function statementsOf(pool: Pool, work: () => Promise<void>): Promise<number> {
  let taken = 0
  const count = () => void (taken += 1)
  pool.on('acquire', count)
  await work()
  pool.off('acquire', count)
  return taken
}

function create(service: RunningService, operation: 'createUsers' | 'createGroups', ids: readonly string[]) {
  const list = operation === 'createUsers' ? 'users' : 'groups'
  return ask(service, operation, { json: { [list]: ids.map((id) => ({ external_id: id, name: id })) } })
}

describeService('creating entries', {}, (service) => {
  test('needs one statement for the token and one for the entries, whatever the list holds', async () => {
    await create(service(), 'createUsers', ['before'])
    const many = Array.from({ length: 100 }, (_, index) => `many-${index}`)
    for (const operation of ['createUsers', 'createGroups'] as const) {
      const statements = await statementsOf(service().pool, async () => {
        expect((await create(service(), operation, many)).status).toBe(201)
      })
      expect(statements).toBe(2)
    }
  })
})
