import { chmod, cp, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type EmbeddedPool, openEmbeddedPool } from '../../../../src/base/database/embedded.ts'
import { add, numbersIn, TABLE, testTransactions } from './embedded.ts'
import { type TempDir, tempDir } from '../../../support/temp.ts'
import { eventually } from '../../../support/eventually.ts'

let temp: TempDir
let pool: EmbeddedPool

beforeAll(async () => {
  temp = await tempDir()
  const dir = join(temp.path, 'store')
  // What a creation that was killed has left behind.
  await mkdir(`${dir}.new`)
  await writeFile(join(`${dir}.new`, 'PG_VERSION'), '17')
  pool = await openEmbeddedPool(dir)
  await pool.query(TABLE)
}, 300_000)

beforeEach(async () => {
  await pool.query('truncate public.t')
})

afterAll(async () => {
  await pool.end()
  await temp[Symbol.asyncDispose]()
})

const numbers = () => numbersIn(pool)

test('the search path is that of the queue', async () => {
  const { rows } = await pool.query('show search_path')
  expect(rows).toEqual([{ search_path: 'bullmq, public' }])
})

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777
}

test('nobody else gets at the files, also of a database that others could reach before', async () => {
  expect(await modeOf(join(temp.path, 'store'))).toBe(0o700)
  const older = join(temp.path, 'older')
  await cp(join(temp.path, 'store'), older, { recursive: true })
  await chmod(older, 0o755)
  await using _opened = await openEmbeddedPool(older)
  expect(await modeOf(older)).toBe(0o700)
})

test('several statements without parameters run at once, and give several results', async () => {
  const results = (await pool.query('select 1 as a; select 2 as b')) as unknown as { rows: object[] }[]
  expect(results.map(({ rows }) => rows)).toEqual([[{ a: 1 }], [{ b: 2 }]])
})

test('others wait while a transaction is open, and see only what was committed', async () => {
  const client = await pool.connect()
  await client.query('-- a comment first\nBEGIN')
  await client.query(add, [1])
  let seen: number[] | undefined
  const other = numbers().then((found) => (seen = found))
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(seen).toBeUndefined()
  await client.query('COMMIT')
  client.release()
  expect(await other).toEqual([1])
})

test.each([
  ['released', undefined],
  ['destroyed', true],
])('a client that is %s in a transaction rolls it back', async (_case, destroy) => {
  const client = await pool.connect()
  await client.query('BEGIN')
  await client.query(add, [1])
  client.release(destroy)
  expect(await numbers()).toEqual([])
})

test('a client that is destroyed while it waits for its turn lets the next one go', async () => {
  const [first, second] = [await pool.connect(), await pool.connect()]
  await first.query('BEGIN')
  const waiting = second.query('select 1').catch((error: Error) => error.message)
  second.release(true)
  const third = numbers()
  await first.query('COMMIT')
  first.release()
  expect(await waiting).toMatch(/terminated|ended/)
  expect(await third).toEqual([])
})

test('an error in a transaction keeps it open until it is rolled back', async () => {
  const client = await pool.connect()
  await client.query('BEGIN')
  await client.query(add, [1])
  await expect(client.query('select 1/0')).rejects.toMatchObject({ code: '22012' })
  await expect(client.query('select 1')).rejects.toMatchObject({ code: '25P02' })
  await client.query('ROLLBACK')
  client.release()
  expect(await numbers()).toEqual([])
})

test('notifications reach every client that listens, and none that does not', async () => {
  const clients = [await pool.connect(), await pool.connect(), await pool.connect()]
  const heard: string[] = []
  for (const [n, client] of clients.entries()) {
    client.on('notification', ({ channel, payload }) => heard.push(`${n} ${channel} ${payload}`))
    if (n < 2) await client.query('/* comment */ LISTEN news')
  }
  await pool.query("select pg_notify('news', 'one')")
  await eventually(() => expect(heard.toSorted()).toEqual(['0 news one', '1 news one']))
  for (const client of clients) client.release(true)
  await pool.query("select pg_notify('news', 'two')")
  await pool.query('select 1')
  expect(heard).toHaveLength(2)
})

test('large values go in and come out whole', async () => {
  const text = 'ä'.repeat(1_000_000)
  await pool.query('insert into public.t values ($1, $2)', [1, text])
  const { rows } = await pool.query<{ text: string }>('select text from public.t')
  expect(rows[0]?.text === text).toBe(true)
})

test('timers run while a long line of queries is worked on', async () => {
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), 5)
  await Promise.all(Array.from({ length: 600 }, (_, n) => pool.query(add, [n])))
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(5)
})

testTransactions(() => pool, 8)
