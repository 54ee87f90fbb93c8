import { type ChildProcess, fork } from 'node:child_process'
import { on, once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { findHeld, freeDeadLeases, type Lease, takeRow } from '../../src/store/lease.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { allBackends, backendNamed, type OpenBackend } from '../support/backends.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import type { HolderAnswer, HolderTask } from '../support/lease-holder.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { tempDir } from '../support/temp.ts'
import { eventually } from '../support/eventually.ts'
import { breakConnection, leaseConnections, taken, TIMES, untilRenewed } from './lease.ts'

const HOLDER = fileURLToPath(new URL('../support/lease-holder.ts', import.meta.url))
const stores = allBackends().filter(({ name }) => name !== 'redis')

let store: Store
let passed = 0

beforeEach(() => {
  passed = 0
  const real = process.hrtime.bigint.bind(process.hrtime)
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => real() + BigInt(passed) * 1_000_000n)
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Milliseconds by the clock by which this thread measures how old a lease is. */
function passTime(ms: number): void {
  passed += ms
}

const take = (sync: string, owner: string, times = TIMES) => store.leases.take(sync, owner, times)

async function mustTake(sync: string, owner: string, times = TIMES): Promise<Lease> {
  return taken(await take(sync, owner, times))
}

function openStoreOf(open: () => Promise<OpenBackend>): void {
  let opened: OpenBackend

  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })

  afterAll(async () => {
    await opened.close()
  })
}

async function expectLost(lease: Lease): Promise<void> {
  await eventually(() => expect(lease.signal.aborted).toBe(true))
}

describe.each(stores)('leases in $name', ({ open }) => {
  openStoreOf(open)

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

  test('while it is held nobody else gets it', async () => {
    const lease = await mustTake('renewed', 'a')
    for (let time = 0; time < 3; time += 1) {
      expect(await take('renewed', 'b')).toBeUndefined()
      passTime(0.9 * TIMES.expiry)
      await untilRenewed('renewed', 1, store)
    }
    expect(await take('renewed', 'b')).toBeUndefined()
    expect(lease.signal.aborted).toBe(false)
    await lease[Symbol.asyncDispose]()
    await using next = await take('renewed', 'b')
    expect(next?.epoch).toBe(2)
  })

  test('after it was freed it is renewed no more', async () => {
    const lease = await mustTake('freed', 'a')
    await lease[Symbol.asyncDispose]()
    await using _later = await mustTake('taken-later', 'a')
    await untilRenewed('taken-later', 2, store)
    const { rows } = await store.pool.query(
      "select owner, renewed_at from dirsyncd.leases where sync = 'freed'",
    )
    expect(rows).toEqual([{ owner: null, renewed_at: null }])
    expect(lease.signal.aborted).toBe(false)
  })
})

describe('leases of the one owner of an embedded store', () => {
  openStoreOf(backendNamed('embedded').open)

  test('one never grows old for those who claim changes', async () => {
    await using _lease = await mustTake('old', 'a')
    const { rows } = await store.pool.query("select renewed_at::text from dirsyncd.leases where sync = 'old'")
    expect(rows).toEqual([{ renewed_at: 'infinity' }])
  })

  test('one that could not be freed is freed before the next is taken', async () => {
    const lease = await mustTake('unfreed', 'a')
    await store.pool.query('alter table dirsyncd.leases rename to away')
    await lease[Symbol.asyncDispose]()
    await store.pool.query('alter table dirsyncd.away rename to leases')
    await using next = await take('unfreed', 'a')
    expect(next?.epoch).toBe(2)
  })
})

describe('leases on a PostgreSQL server', () => {
  openStoreOf(backendNamed('postgres').open)

  test('an owner somewhere else is replaced when the lease is old, not before, and with a higher epoch', async () => {
    await store.pool.query("insert into dirsyncd.leases values ('dead', 7, 'gone', clock_timestamp())")
    expect(await take('dead', 'heir')).toBeUndefined()
    passTime(0.8 * TIMES.expiry)
    expect(await take('dead', 'heir')).toBeUndefined()
    passTime(0.2 * TIMES.expiry)
    const lease = await mustTake('dead', 'heir')
    expect(lease.epoch).toBe(8)
    await lease[Symbol.asyncDispose]()
  })

  test('an owner that renewed it since somebody looked keeps it', async () => {
    await using lease = await mustTake('just-renewed', 'a')
    const looked = await findHeld(store.db, 'just-renewed')
    await eventually(async () => expect(await findHeld(store.db, 'just-renewed')).not.toEqual(looked))
    const takeOver = { sync: 'just-renewed', owner: 'heir', from: looked }
    expect(await takeRow(store.db, takeOver)).toBeUndefined()
    expect(lease.signal.aborted).toBe(false)
  })

  test('whose lease was taken over learns it at the next renewal, and does not free the new one', async () => {
    const lease = await mustTake('stolen', 'a')
    await store.pool.query("update dirsyncd.leases set owner = 'b', epoch = epoch + 1 where sync = 'stolen'")
    await expectLost(lease)
    await lease[Symbol.asyncDispose]()
    const { rows } = await store.pool.query("select owner from dirsyncd.leases where sync = 'stolen'")
    expect(rows).toEqual([{ owner: 'b' }])
  })

  test('which the same process took again is neither renewed nor freed by its old holder', async () => {
    const lease = await mustTake('again', 'a')
    await store.pool.query("update dirsyncd.leases set epoch = epoch + 1 where sync = 'again'")
    await expectLost(lease)
    await lease[Symbol.asyncDispose]()
    const { rows } = await store.pool.query("select owner, epoch from dirsyncd.leases where sync = 'again'")
    expect(rows).toEqual([{ owner: 'a', epoch: '2' }])
  })

  test.each([
    ['back', '1 day'],
    ['ahead', '-1 day'],
  ])(
    'a clock of the database that was set %s keeps no dead owner and drops no living one',
    async (way, by) => {
      const [living, dead] = [`living-${way}`, `dead-${way}`]
      const { pool } = store
      await using _living = await mustTake(living, 'a')
      await pool.query(
        "insert into dirsyncd.leases values ($1, 7, 'gone', clock_timestamp() + $2::interval)",
        [dead, by],
      )
      for (let time = 0; time < 3; time += 1) {
        await pool.query(
          'update dirsyncd.leases set renewed_at = clock_timestamp() + $2::interval where sync = $1',
          [living, by],
        )
        expect(await take(living, 'heir')).toBeUndefined()
        if (time < 2) expect(await take(dead, 'heir')).toBeUndefined()
        passTime(0.4 * TIMES.expiry)
      }
      await using heir = await mustTake(dead, 'heir')
      expect(heir.epoch).toBe(8)
    },
  )

  test('a connection that breaks is made again', async () => {
    await using lease = await mustTake('broken', 'a')
    await breakConnection(store)
    await untilRenewed('broken', 1, store)
    expect(lease.signal.aborted).toBe(false)
    expect(await take('broken', 'b')).toBeUndefined()
  })

  test('closing the store ends the thread', async () => {
    const url = await createDatabase(STORE_TEMPLATE)
    await using watching = await openStore({ kind: 'postgres', url })
    {
      await using closing = await openStore({ kind: 'postgres', url })
      await using _lease = taken(await closing.leases.take('closing', 'a', TIMES))
      await eventually(async () => expect(await leaseConnections(watching)).toBe(1))
    }
    await eventually(async () => expect(await leaseConnections(watching)).toBe(0))
  })
})

describe('other processes', () => {
  openStoreOf(backendNamed('postgres').open)

  test('one that was frozen while somebody took its lease over learns it', async () => {
    const holder = await startHolder('frozen')
    holder.process.kill('SIGSTOP')
    await using heir = await eventually(() => {
      passTime(TIMES.expiry)
      return mustTake('frozen', 'heir')
    })
    expect(heir.epoch).toBe(2)
    const answer = holder.next()
    holder.process.kill('SIGCONT')
    expect(await answer).toEqual({ lost: true })
  })

  test('one whose loop does not turn for far too long is replaced, and learns it', async () => {
    await using dir = await tempDir()
    const until = join(dir.path, 'go-on')
    const holder = await startHolder('stuck', { ...TIMES, blocked: 400 })
    holder.send({ do: 'block', until })
    await using _beside = await mustTake('beside-stuck', 'b')
    await eventually(async () => {
      const before = await findHeld(store.db, 'stuck')
      await untilRenewed('beside-stuck', 3, store)
      expect(await findHeld(store.db, 'stuck')).toEqual(before)
    })
    expect(await take('stuck', 'heir')).toBeUndefined()
    passTime(TIMES.expiry)
    await using heir = await mustTake('stuck', 'heir')
    expect(heir.epoch).toBe(2)
    await writeFile(until, '')
    expect(await holder.next()).toEqual({ lost: true })
  })

  test('the lease of one that was killed on this machine is free at once, that of a living one is not', async () => {
    const holder = await startHolder('killed')
    expect(await take('killed', 'heir')).toBeUndefined()
    await freeDeadLeases(store.db)
    expect(await take('killed', 'heir')).toBeUndefined()
    holder.process.kill('SIGKILL')
    await once(holder.process, 'exit')
    await using heir = await take('killed', 'heir')
    expect(heir?.epoch).toBe(2)
  })

  test('the thread keeps no process alive', async () => {
    const holder = await startHolder('leaving')
    holder.send({ do: 'leave' })
    expect(await once(holder.process, 'exit')).toEqual([0, null])
  })
})

async function startHolder(sync: string, times = TIMES) {
  const child: ChildProcess = fork(HOLDER)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const send = (task: HolderTask) => void child.send(task)
  const answers = on(child, 'message')
  const next = async () => (await answers.next()).value?.[0] as HolderAnswer
  const { rows } = await store.pool.query<{ name: string }>('select current_database() as name')
  const url = new URL(`/${rows[0]?.name}`, await createDatabase())
  send({ do: 'take', url: url.href, sync, times })
  expect(await next()).toEqual({ took: true })
  return { process: child, send, next }
}

describe('a server of its own', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await startPostgres()
  })

  afterAll(async () => {
    await server.close()
  })

  test('while the store is away the lease is given up before anybody else may take it', async () => {
    const url = await server.createDatabase()
    const away = await openStore({ kind: 'postgres', url })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const lease = await away.leases.take('away', 'a', TIMES)
    await server.stop()
    passTime(0.95 * TIMES.expiry)
    vi.advanceTimersByTime(0.95 * TIMES.expiry)
    expect(lease?.signal.aborted).toBe(true)
    vi.useRealTimers()
    await lease?.[Symbol.asyncDispose]()
    await away[Symbol.asyncDispose]()
  })
})
