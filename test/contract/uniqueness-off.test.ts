import { expect, test } from 'vitest'
import { ask, problem } from './api.ts'
import { describeService } from './with-service.ts'

describeService(
  'with the uniqueness of external ids switched off',
  { uniqueExternalIds: false },
  (service) => {
    test('an id can be given again, and what names it acts on the oldest', async () => {
      for (const name of ['First', 'Second', 'Third']) {
        const json = { users: [{ external_id: 'same', name }] }
        expect((await ask(service(), 'createUsers', { json })).status).toBe(201)
      }
      const group = { external_id: 'group', name: 'x', external_member_ids: ['same'] }
      await ask(service(), 'createGroups', { json: { groups: [group, group] } })

      await ask(service(), 'updateUser', { externalId: 'same', json: { name: 'First again' } })
      expect(await names()).toEqual(['First again', 'Second', 'Third'])
      await ask(service(), 'deleteUser', { externalId: 'same' })
      expect(await names()).toEqual(['Second', 'Third'])
      expect((await ask(service(), 'getUser', { externalId: 'same' })).body).toMatchObject({ name: 'Second' })
      expect((await ask(service(), 'getGroup', { externalId: 'group' })).body).toEqual(group)

      await ask(service(), 'deleteUser', { externalId: 'same' })
      await ask(service(), 'deleteUser', { externalId: 'same' })
      expect(await ask(service(), 'deleteUser', { externalId: 'same' })).toMatchObject(problem(404))
      const { body } = await ask(service(), 'listGroups')
      expect(body).toEqual([group, group].map((each) => ({ ...each, external_member_ids: [] })))
    })

    test('the duplicates of one request are all created', async () => {
      const answer = await ask(service(), 'createUsers', {
        json: { users: [{ external_id: 'twin' }, { external_id: 'twin' }] },
      })
      expect(answer).toMatchObject({ status: 201, body: [{ external_id: 'twin' }, { external_id: 'twin' }] })
    })

    async function names(): Promise<unknown[]> {
      const { body } = await ask(service(), 'listUsers')
      return (body as { name: unknown }[]).map((user) => user.name)
    }
  },
)
