import { expect, test } from 'vitest'
import type { Claimed } from '../../../../src/sync/apply/job.ts'
import { requestsOf } from '../../../../src/sync/apply/senders.ts'

function claimed(id: string, more: Partial<Claimed> = {}): Claimed {
  return {
    number: 1,
    change: { op: 'create-user', id, want: { name: id } },
    fingerprint: id,
    attempts: 1,
    refusals: 0,
    retry: false,
    unsure: false,
    ...more,
  }
}

test.each([
  ['new creates share a request', {}, ['a b']],
  ['what may have been sent before goes alone', { unsure: true }, ['a', 'b']],
  ['what was tried before goes alone', { attempts: 2, unsure: true }, ['a', 'b']],
  ['what was refused before goes alone', { refusals: 1 }, ['a', 'b']],
  ['what was left to the end of the run goes alone', { retry: true }, ['a', 'b']],
] as const)('%s', (_, more, requests) => {
  const changes = [claimed('a'), claimed('b', more)]
  const ids = requestsOf(changes, 10).map((batch) => batch.map(({ change }) => change.id).join(' '))
  expect(ids).toEqual(requests)
})

test('at the end of a run nothing shares a request', () => {
  const changes = ['a', 'b'].map((id) => claimed(id, { retry: true, attempts: 3 }))
  expect(requestsOf(changes, 10)).toHaveLength(2)
})
