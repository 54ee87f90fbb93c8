import { expect, test } from 'vitest'
import { ask } from '../contract/api.ts'
import { startForTest } from '../support/service.ts'

test('a form with 100,000 members of 100 bytes is taken, and others do not wait for it', async () => {
  const running = await startForTest({})
  const members = Array.from({ length: 100_000 }, (_, index) => `${index}-`.padEnd(100, 'm'))
  const form = new URLSearchParams({ 'groups[][external_id]': 'big', 'groups[][name]': 'Big' })
  for (const member of members) form.append('groups[][external_member_ids][]', member)
  const answer = await ask(running, 'createGroups', { form: form.toString() })
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual([{ external_id: 'big', name: 'Big', external_member_ids: members.toSorted() }])
})
