import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Lease, type LeaseTimes, takeLease } from '../../src/store/lease.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { allBackends, type OpenBackend } from '../support/backends.ts'
import { startPostgres } from '../support/postgres.ts'
import { scaleToLoad } from '../support/machine-load.ts'

const TIMES: LeaseTimes = { expiry: 1500, renewal: 300 }
const stores = allBackends().filter(({ name }) => name !== 'redis')

describe.each(stores)('leases in $name', ({ open }) => {
  let opened: OpenBackend
  let store: Store

  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })

  afterAll(async () => {
    await opened.close()
  })

  const take = (sync: string, owner: string) => takeLease(store.db, sync, owner, TIMES)

  async function mustTake(sync: string, owner: string): Promise<Lease> {
    const lease = await take(sync, owner)
    if (lease === undefined) throw new Error('not taken')
    return lease
  }

  test('of ten takers at once one gets it', async () => {
    const takers = Array.from({ length: 10 }, (_, n) => take('ten', `owner-${n}`))
    const leases = (await Promise.all(takers)).filter((lease) => lease !== undefined)
    expect(leases).toHaveLength(1)
    await leases[0]?.[Symbol.asyncDispose]()
  })

  test('who frees it lets the next one in, with a higher epoch', async () => {
    const epochs: number[] = []
    for (const owner of ['a', 'b', 'a']) {
      await using lease = await mustTake('in-turn', owner)
      epochs.push(lease.epoch)
    }
    expect(epochs).toEqual([1, 2, 3])
  })

  test('while it is renewed nobody else gets it', async () => {
    await using lease = await mustTake('renewed', 'a')
    const end = performance.now() + 2 * TIMES.expiry
    while (performance.now() < end) {
      expect(await take('renewed', 'b')).toBeUndefined()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(lease.signal.aborted).toBe(false)
  })

  test('a dead owner is replaced when the lease is old, not before, and with a higher epoch', async () => {
    await store.pool.query("insert into dirsyncd.leases values ('dead', 7, 'gone', clock_timestamp())")
    const began = performance.now()
    const lease = await vi.waitFor(() => mustTake('dead', 'heir'), { timeout: 5000, interval: 20 })
    expect(performance.now() - began).toBeGreaterThan(TIMES.expiry - 100)
    expect(performance.now() - began).toBeLessThan(scaleToLoad(TIMES.expiry + 1000))
    expect(lease.epoch).toBe(8)
    await lease[Symbol.asyncDispose]()
  })

  test('whose lease was taken over learns it at the next renewal, and does not free the new one', async () => {
    const lease = await mustTake('stolen', 'a')
    await store.pool.query("update dirsyncd.leases set owner = 'b', epoch = epoch + 1 where sync = 'stolen'")
    await once(lease.signal, 'abort', { signal: AbortSignal.timeout(TIMES.expiry) })
    await lease[Symbol.asyncDispose]()
    const { rows } = await store.pool.query("select owner from dirsyncd.leases where sync = 'stolen'")
    expect(rows).toEqual([{ owner: 'b' }])
  })

  test('which the same process took again is neither renewed nor freed by its old holder', async () => {
    const lease = await mustTake('again', 'a')
    await store.pool.query("update dirsyncd.leases set epoch = epoch + 1 where sync = 'again'")
    await new Promise((resolve) => setTimeout(resolve, 2 * TIMES.renewal))
    expect(lease.signal.aborted).toBe(true)
    await lease[Symbol.asyncDispose]()
    const { rows } = await store.pool.query("select owner, epoch from dirsyncd.leases where sync = 'again'")
    expect(rows).toEqual([{ owner: 'a', epoch: '2' }])
  })

  test('after it was freed it is renewed no more', async () => {
    const lease = await mustTake('freed', 'a')
    await lease[Symbol.asyncDispose]()
    await new Promise((resolve) => setTimeout(resolve, 2 * TIMES.renewal))
    const { rows } = await store.pool.query(
      "select owner, renewed_at from dirsyncd.leases where sync = 'freed'",
    )
    expect(rows).toEqual([{ owner: null, renewed_at: null }])
    expect(lease.signal.aborted).toBe(false)
  })
})

test('while the store is away the lease is given up before anybody else may take it', async () => {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const store = await openStore({ kind: 'postgres', url })
  const lease = await takeLease(store.db, 'away', 'a', TIMES)
  await server.stop()
  // Timers of one process fire in their order, however busy the machine is.
  await new Promise((resolve) => setTimeout(resolve, TIMES.expiry))
  expect(lease?.signal.aborted).toBe(true)
  await lease?.[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  await server.close()
})
