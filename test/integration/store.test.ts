import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, truncate } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../src/core/plan/change.ts'
import type { PlannedChange } from '../../src/core/plan/changes.ts'
import { FencedRun } from '../../src/store/fenced-run.ts'
import { makeTables } from '../../src/base/database/make-tables.ts'
import { STORE_TABLES } from '../../src/store/migrations/index.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { isAway } from '../../src/base/database/outage.ts'
import { changesOf } from '../../src/store/change-list.ts'
import { noticesOf, storeAllNotices, storePlan } from '../../src/store/plans.ts'
import { addRun, findRun, finishRun, stopRun } from '../../src/store/runs.ts'
import type { OwnerAnswer, OwnerTask } from '../support/data-dir-owner.ts'
import { beginFenced } from '../support/fenced.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { freePort } from '../support/server-process.ts'
import { tempDir } from '../support/temp.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { eventually } from '../support/eventually.ts'

const OWNER = fileURLToPath(new URL('../support/data-dir-owner.ts', import.meta.url))

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(async () => {
  await server.close()
})

async function embedded(stack: AsyncDisposableStack): Promise<Store> {
  const dir = stack.use(await tempDir())
  await putEmptyStore(dir.path)
  return stack.use(await openStore({ kind: 'embedded', dataDir: dir.path }))
}

async function postgres(stack: AsyncDisposableStack): Promise<Store> {
  return stack.use(await openStore({ kind: 'postgres', url: await server.createDatabase() }))
}

/** What a source, a directory or a program may say, and PostgreSQL refuses: NUL, and half a character. */
const HOSTILE = 'a\0b \ud83d \\u0000 c'
const KEPT = 'a\ufffdb \ufffd \\u0000 c'

describe.each([
  { name: 'embedded', open: embedded },
  { name: 'postgres', open: postgres },
])('store on $name', ({ open }) => {
  const stack = new AsyncDisposableStack()
  let store: Store

  beforeAll(async () => {
    store = await open(stack)
  })
  afterAll(() => stack.disposeAsync())

  test('a text that no database takes costs nobody the run', async () => {
    const { db } = store
    const run = await addRun(db, { sync: 'corp', target: 'here', mode: 'sync', trigger: 'demand' })
    const change: Change = {
      op: 'delete-user',
      id: '1',
      have: { name: HOSTILE, email: null, groups: [] },
      why: 'gone',
    }
    const planned = { change, phase: 'delete-users', fingerprint: 'f', removes: 1 } as const
    const notice = { kind: 'user', id: HOSTILE, code: 'no-name', params: { from: HOSTILE } } as const
    const fenced = await beginFenced(store, run)
    await storePlan(fenced, [{ planned }], 1)
    await storeAllNotices(fenced, [notice])
    expect(await noticesOf(db, run, 10)).toEqual([{ ...notice, id: KEPT, params: { from: KEPT } }])
    expect(await changesOf(db, (await findRun(db, run))!, 10)).toMatchObject([
      { change: { have: { name: KEPT } } },
    ])
    await fenced.write(async (trx) => {
      await stopRun(trx, run, 'internal', HOSTILE)
      await finishRun(trx, run, { state: 'failed', error: { code: 'internal', text: HOSTILE } })
    })
    expect(await findRun(db, run)).toMatchObject({
      state: 'failed',
      error: KEPT,
      error_code: 'internal',
      stop_reason: KEPT,
    })
  })

  test('values go in and come out as with any pool of pg', async () => {
    const { pool } = store
    await pool.query(`create table public.v (big int8, small int4, num numeric, flag bool, at timestamptz,
      doc jsonb, list text[], ints int4[], bytes bytea, gone text)`)
    const at = new Date('2026-02-03T04:05:06.789Z')
    const values = [
      9_007_199_254_740_993n,
      42,
      '12.50',
      true,
      at,
      { a: [1, 'ö"\\'] },
      ['x,y', '"', 'NULL', null],
      [1, 2],
      Buffer.from([0, 255, 10]),
      undefined,
    ]
    const places = values.map((_, n) => `$${n + 1}`).join(', ')
    const inserted = await pool.query(`insert into public.v values (${places})`, values)
    expect(inserted).toMatchObject({ rowCount: 1, command: 'INSERT', rows: [] })
    const { rows, fields } = await pool.query('select * from public.v')
    expect(rows).toEqual([
      {
        big: '9007199254740993',
        small: 42,
        num: '12.50',
        flag: true,
        at,
        doc: { a: [1, 'ö"\\'] },
        list: ['x,y', '"', 'NULL', null],
        ints: [1, 2],
        bytes: Buffer.from([0, 255, 10]),
        gone: null,
      },
    ])
    expect(fields.map(({ name }) => name)).toContain('doc')
  })

  test('errors carry the code and the constraint', async () => {
    const { pool } = store
    await pool.query('create table public.u (n int constraint once primary key)')
    await pool.query('insert into public.u values (1)')
    const twice = pool.query('insert into public.u values (1)')
    await expect(twice).rejects.toMatchObject({ code: '23505', constraint: 'once', table: 'u' })
  })

  test("Kysely's transactions commit and roll back", async () => {
    const { db } = store
    const put = (name: string) => db.insertInto('dirsyncd.settings').values({ name, value: '' })
    const failing = db.transaction().execute(async (trx) => {
      await trx.insertInto('dirsyncd.settings').values({ name: 'undone', value: '' }).execute()
      await sql`select 1/0`.execute(trx)
    })
    await expect(failing).rejects.toThrow(/division by zero/)
    await put('kept').execute()
    expect(await db.selectFrom('dirsyncd.settings').select('name').execute()).toEqual([{ name: 'kept' }])
  })

  test('the tables are made once, also by several at once', async () => {
    const { pool } = store
    const tables = {
      schema: 'once',
      migrations: { first: 'create table once.a (); insert into once.a default values' },
    }
    const make = () =>
      makeTables(pool, tables, {
        program: 'dirsyncd',
        where: () => 'It',
        rights: 'create',
        withoutIt: 'gone',
      })
    await Promise.all([make(), make(), make()])
    await make()
    expect((await pool.query('select from once.a')).rowCount).toBe(1)
  })

  test('any other text of the migration is another form', async () => {
    const migrations = Object.entries(STORE_TABLES.migrations).map(([name, text]) => [name, `${text} `])
    const tables = { ...STORE_TABLES, migrations: Object.fromEntries(migrations) }
    const opening = makeTables(store.pool, tables, {
      program: 'dirsyncd',
      where: () => 'It',
      rights: 'create',
      withoutIt: 'gone',
    })
    await expect(opening).rejects.toMatchObject({
      code: 'store-other-form',
      message: expect.stringMatching(/^It has the tables of another build .* or remove this store; gone\.$/),
    })
  })

  test('one sync has one run under way', async () => {
    const { db } = store
    const add = () => addRun(db, { sync: 'one', target: 'here', mode: 'sync', trigger: 'demand' })
    const runs = [await add(), await add()]
    const update = db.updateTable('dirsyncd.runs').where('run', 'in', runs)
    await expect(update.set({ state: 'reading' }).execute()).rejects.toMatchObject({
      constraint: 'runs_one_active',
    })
  })

  test('20 clients write 1 MB and 100-byte rows at once, and every row is in its own table', async () => {
    const { pool } = store
    const clients = Array.from({ length: 20 }, (_, n) => n)
    for (const n of clients)
      await pool.query(`create table public.c${n} (id int primary key, owner int, data text)`)
    await Promise.all(clients.map((n) => writeRows(pool, n)))
    for (const n of clients) {
      const { rows } = await pool.query(`select count(*)::int as rows, min(owner) as low, max(owner) as high,
        count(*) filter (where length(data) = case when id = 0 then 1000000 else 100 end)::int as whole
        from public.c${n}`)
      expect(rows).toEqual([{ rows: 8, low: n, high: n, whole: 8 }])
    }
  })
})

async function writeRows(pool: Pool, n: number): Promise<void> {
  for (let id = 0; id < 8; id += 1) {
    const data = String.fromCharCode(65 + n).repeat(id === 0 ? 1_000_000 : 100)
    await pool.query(`insert into public.c${n} values ($1, $2, $3)`, [id, n, data])
  }
}

describe('one owner of a data directory', () => {
  test('an owner that is killed in mid-write: the next one opens at once, and no acknowledged row is lost', async () => {
    await using dir = await tempDir()
    await putEmptyStore(dir.path)
    const child = startOwner({ dataDir: dir.path, startAt: 0, write: true })
    expect(await child.next()).toHaveProperty('owns')
    const acknowledged = new Set<number>()
    child.process.on('message', (answer: OwnerAnswer) => {
      if ('wrote' in answer) acknowledged.add(answer.wrote)
    })
    await eventually(() => expect(acknowledged.size).toBeGreaterThan(300))
    const peak = await peakOf(child.process)
    child.process.kill('SIGKILL')
    await once(child.process, 'close')

    await using store = await openStore({ kind: 'embedded', dataDir: dir.path })
    const { rows } = await store.pool.query<{ n: number }>('select n from public.written')
    const found = new Set(rows.map(({ n }) => n))
    expect([...acknowledged].filter((n) => !found.has(n))).toEqual([])
    // Also while it is opened.
    expect(peak, 'megabytes of the owner').toBeLessThan(500)
  })

  test('the leases of an owner that died are free, and keep their epochs', async () => {
    await using dir = await tempDir()
    await putEmptyStore(dir.path)
    {
      await using store = await openStore({ kind: 'embedded', dataDir: dir.path })
      const dead = { sync: 'corp', epoch: 5, owner: 'dead', renewed_at: new Date() }
      await store.db.insertInto('dirsyncd.leases').values(dead).execute()
    }
    await using store = await openStore({ kind: 'embedded', dataDir: dir.path })
    const leases = await store.db.selectFrom('dirsyncd.leases').selectAll().execute()
    expect(leases).toEqual([{ sync: 'corp', epoch: '5', owner: null, renewed_at: null }])
  })

  test('a damaged store is one sentence about the folder, without words for those who build its database', async () => {
    await using dir = await tempDir()
    await putEmptyStore(dir.path)
    await truncate(join(dir.path, 'store', 'global', 'pg_control'))
    const opening = openStore({ kind: 'embedded', dataDir: dir.path })
    await expect(opening).rejects.toMatchObject({ code: 'store-unavailable' })
    await expect(opening).rejects.toThrow(
      /^The embedded store in \/\S+ does not open: .*[^.]\. Free space or/,
    )
    await expect(opening).rejects.not.toThrow(/ASSERTIONS/)
  })
})

/** The most megabytes of memory that the process has had. */
async function peakOf({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

type Owner = { process: ChildProcess; next(): Promise<OwnerAnswer> }

function startOwner(task: OwnerTask): Owner {
  const child = fork(OWNER)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  child.send(task)
  return { process: child, next: async () => (await once(child, 'message'))[0] as OwnerAnswer }
}

describe('a PostgreSQL server that cannot be used', () => {
  test('nothing listens there', async () => {
    const opening = openStore({ kind: 'postgres', url: `postgres://me@127.0.0.1:${await freePort()}/db` })
    await expect(opening).rejects.toMatchObject({ code: 'store-unavailable' })
    await expect(opening).rejects.toThrow(
      /at 127\.0\.0\.1:\d+, database db, user me\): nothing listens there/,
    )
  })

  test('the database does not exist', async () => {
    const opening = openStore({ kind: 'postgres', url: server.url.replace(/postgres$/, 'nowhere') })
    await expect(opening).rejects.toMatchObject({ code: 'store-unavailable' })
    await expect(opening).rejects.toThrow(/database nowhere, user postgres\): that database does not exist/)
  })

  test('the password is wrong, and is not told', async () => {
    const url = await lockedUser()
    const opening = openStore({ kind: 'postgres', url, password: async () => 'wrong-secret' })
    await expect(opening).rejects.toThrow(/user locked\): the server refused the login/)
    await expect(opening).rejects.not.toThrow(/wrong-secret/)
  })

  test('a password that cannot be read is one sentence', async () => {
    const url = await lockedUser()
    const password = async () => {
      throw new Error(`The secret cannot be read: the file of ${url} does not exist.`)
    }
    const said = await openStore({ kind: 'postgres', url, password }).catch((error: Error) => error.message)
    expect(said).toMatch(/ does not exist\.$/)
  })

  test('three processes that open an empty database at once make its tables once', async () => {
    const url = await server.createDatabase()
    await using stack = new AsyncDisposableStack()
    const open = async () => stack.use(await openStore({ kind: 'postgres', url }))
    const [store] = await Promise.all([open(), open(), open()])
    const { rows } = await store.pool.query('select name from dirsyncd.migrations')
    expect(rows).toEqual([{ name: '0001-initial' }])
  })

  test('the password comes from where it is kept', async () => {
    const url = await lockedUser()
    await using store = await openStore({ kind: 'postgres', url, password: async () => 'right' })
    expect((await store.pool.query('select current_user as me')).rows).toEqual([{ me: 'locked' }])
  })

  test('a restart of the server does not end the process, and the store goes on', async () => {
    await using stack = new AsyncDisposableStack()
    const store = await postgres(stack)
    const checkedOut = await store.pool.connect()
    await server.stop()
    await expect(store.pool.query('select 1')).rejects.toThrow(/terminat|ECONNREFUSED|ended/)
    await server.start()
    checkedOut.release(true)
    await eventually(() => store.pool.query('select 1'))
  })

  test('it compiles no statement, however expensive it seems to it', async () => {
    await using store = await openStore({ kind: 'postgres', url: await server.createDatabase() })
    const client = await store.pool.connect()
    await client.query('SET jit_above_cost = 0')
    const { rows } = await client.query('EXPLAIN (ANALYZE, FORMAT JSON) SELECT sum(run) FROM dirsyncd.runs')
    client.release(true)
    expect(JSON.stringify(rows)).not.toContain('JIT')
  })

  test('what a process asked for ends with it, and keeps nobody from its rows', async () => {
    const url = await server.createDatabase()
    await using store = await openStore({ kind: 'postgres', url })
    await store.db.insertInto('dirsyncd.settings').values({ name: 'a', value: '' }).execute()
    const gone = await store.pool.connect()
    await gone.query(`BEGIN; UPDATE dirsyncd.settings SET value = 'b' WHERE name = 'a'`)
    const long = gone.query('SELECT pg_sleep(300)')
    const lost = long.catch((error: unknown) => error)
    await eventually(async () => {
      const { rowCount } = await store.pool.query(
        "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()",
      )
      expect(rowCount).toBe(1)
    })
    ;(gone as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
    expect(await lost).toMatchObject({ message: expect.stringContaining('terminated') })
    gone.release(true)
    const next = store.pool.query(
      `SET lock_timeout = '20s'; UPDATE dirsyncd.settings SET value = 'c' WHERE name = 'a'`,
    )
    await expect(next).resolves.toBeDefined()
  })

  test('a long plan is stored without looking for each change in the whole journal', async () => {
    await using store = await openStore({ kind: 'postgres', url: await server.createDatabase() })
    const plan = async (entries: number) => {
      const run = await addRun(store.db, { sync: 'corp', target: 'here', mode: 'sync', trigger: 'demand' })
      const changes = Array.from({ length: entries }, (_, n) => deletion(`u${n}`))
      const fenced = await beginFenced(store, run)
      await storePlan(
        fenced,
        changes.map((planned) => ({ planned })),
        changes.length,
      )
      await fenced.write((trx) => finishRun(trx, run, { state: 'done' }))
      return run
    }
    const entries = 3000
    await sql`INSERT INTO dirsyncd.journal (sync, target, run, number, op, entry_id, fingerprint, attempt, worker,
        removes, outcome, intent_at)
      SELECT 'corp', 'here', ${await plan(10)}, n, 'update-user', 'u' || n, 'f', 1, 'w', 0, CASE n WHEN 7 THEN 'unknown' ELSE 'applied' END, now()
      FROM generate_series(0, ${entries - 1}::int) AS n`.execute(store.db)
    await sql`ANALYZE`.execute(store.db)
    const run = await plan(entries)
    const unsure = await sql`SELECT entry_id FROM dirsyncd.changes WHERE run = ${run} AND unsure`.execute(
      store.db,
    )
    expect(unsure.rows).toEqual([{ entry_id: 'u7' }])
    const readRows = async () => {
      const { rows } = await sql<{ read: number }>`SELECT (seq_tup_read + idx_tup_fetch)::int AS read
        FROM pg_stat_user_tables WHERE relname = 'journal'`.execute(store.db)
      return rows[0]?.read
    }
    await eventually(async () => expect(await readRows()).toBeGreaterThanOrEqual(entries))
    expect(await readRows()).toBeLessThan(10 * entries)
  })

  test('a process that is frozen within a transaction keeps nobody from its rows for long', async () => {
    const url = await server.createDatabase()
    await using frozen = await openStore({ kind: 'postgres', url, idleMs: 1000 })
    await using other = await openStore({ kind: 'postgres', url })
    const number = await addRun(frozen.db, {
      sync: 'corp',
      target: 'https://a',
      mode: 'sync',
      trigger: 'demand',
    })
    const fenced = await beginFenced(frozen, number)
    const [locked, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const write = fenced.write(async (trx) => {
      locked.resolve()
      await thawed.promise
      await stopRun(trx, number, 'token-refused', 'of the frozen process')
    })
    const outcome = write.catch((error: unknown) => error)
    await locked.promise
    let stopped = false
    const elsewhere = new FencedRun(other.db, fenced)
      .write((trx) => stopRun(trx, number, 'token-refused', 'of the other process'))
      .then(() => (stopped = true))
    await eventually(() => expect(stopped).toBe(true)).finally(() => thawed.resolve())
    await elsewhere
    expect(isAway(await outcome)).toBe(true)
    expect(await findRun(other.db, number)).toMatchObject({ stop_reason: 'of the other process' })
  })
})

function deletion(id: string): PlannedChange {
  const change: Change = { op: 'delete-user', id, have: { name: 'a', email: null, groups: [] }, why: 'gone' }
  return { change, phase: 'delete-users', fingerprint: id, removes: 1 }
}

/** A database of the user who needs a password, which is `right`. */
async function lockedUser(): Promise<string> {
  const url = await server.createDatabase()
  const client = new Client(url)
  await client.connect()
  await client.query(`do $$ begin create role locked login superuser password 'right';
    exception when duplicate_object then null; end $$`)
  await client.end()
  return url.replace('postgres@', 'locked@')
}
