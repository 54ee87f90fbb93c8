import { expect, test } from 'vitest'
import { findLeftovers, type Presence, type Removed } from '../../../../src/api/conformance/leftovers.ts'

function users(...ids: readonly string[]): Removed[] {
  return ids.map((id) => ({ id, wasCreated: !id.startsWith('perhaps') }))
}

async function find(removed: readonly Removed[], presences: Readonly<Record<string, Presence>> = {}) {
  const asked: string[] = []
  const sentences = await findLeftovers(
    async (_kind, id) => {
      asked.push(id)
      return presences[id] ?? 'gone'
    },
    { user: removed, group: [] },
  )
  return { sentences, asked }
}

test('only the last entry is looked up while it is gone', async () => {
  expect(await find(users('a', 'b'))).toEqual({ sentences: [], asked: ['b'] })
})

test('an entry that may never have been created proves nothing by its absence', async () => {
  const { sentences } = await find(users('a', 'b', 'perhaps-c'), { a: 'there', b: 'there' })
  expect(sentences).toEqual(['2 users are still there although the service said otherwise: a, b'])
  expect((await find(users('a', 'perhaps-b'))).asked).toEqual(['a'])
  expect(await find(users('perhaps-c'), { 'perhaps-c': 'there' })).toMatchObject({
    sentences: ['1 user is still there although the service said otherwise: perhaps-c'],
  })
})

test('a look-up that fails hides no other', async () => {
  const { sentences } = await find(users('a', 'b', 'c'), { a: 'unknown', b: 'there', c: 'there' })
  expect(sentences).toEqual([
    '2 users are still there although the service said otherwise: b, c; of 1 more it cannot be told',
  ])
})

test('nobody can tell while the look-up of the last fails', async () => {
  const { sentences, asked } = await find(users('a', 'b'), { a: 'there', b: 'unknown' })
  expect(sentences).toEqual(['it cannot be told whether the deleted users are gone'])
  expect(asked).toEqual(['b'])
})
