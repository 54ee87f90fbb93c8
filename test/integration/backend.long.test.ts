import { expect, test } from 'vitest'
import { openQueueBackend } from '../../src/queue/backend.ts'
import { openStore } from '../../src/store/open.ts'
import { createDatabase } from '../support/databases.ts'

test('processes that start at once on an empty database all find their queue', async () => {
  for (let round = 0; round < 10; round += 1) {
    await using stack = new AsyncDisposableStack()
    const url = await createDatabase()
    const stores = await Promise.all(Array.from({ length: 6 }, () => openStore({ kind: 'postgres', url })))
    for (const store of stores) stack.use(store)
    const opened = await Promise.allSettled(stores.map((store) => openQueueBackend({ kind: 'store', store })))
    for (const one of opened) if (one.status === 'fulfilled') stack.use(one.value)
    expect(opened.filter(({ status }) => status === 'rejected')).toEqual([])
  }
})
