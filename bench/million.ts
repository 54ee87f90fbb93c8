import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Pool } from 'undici'
import { FIXTURE } from '../test/support/fixture.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { compare, type Comparison } from './compare.ts'
import type { BarePagingTask } from './contenders/bare-paging.ts'
import type { ClientPagingTask } from './contenders/client-paging.ts'
import { type Latencies, latencies } from './latencies.ts'
import { benchChangingList } from './changing-list.ts'
import { startContender } from './processes.ts'
import type { BenchOptions } from './options.ts'
import { startRealService } from './services.ts'
import { type DirectoryApi, directoryApi } from './directory-api.ts'

const USERS = 1_000_000
/** Every 20th user is a guest; see `changing-list.ts`. */
const GUEST_EVERY = 20
const GUESTS = USERS / GUEST_EVERY
const PEOPLE = USERS - GUESTS
/** The default of `readConcurrency`. */
const CONCURRENCY = 4
/** Random pages, requested one after the other. */
const SINGLE_PAGES = 500

/** Reads all pages of a directory of a million users on PostgreSQL, and measures other requests meanwhile. */
export async function benchMillion(options: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.adopt(await startPostgres(), (server) => server.close())
  const database = await postgres.createDatabase()
  const service = stack.use(
    await startRealService({ users: [], groups: [] }, database, { uniqueExternalIds: false }),
  )
  await fillDirectory(database)
  const api = directoryApi(service.baseUrl)
  const http = stack.adopt(new Pool(service.baseUrl), (pool) => pool.close())
  const single = await latencies(randomPages(http, api))
  const oursTask: ClientPagingTask = { baseUrl: service.baseUrl, concurrency: CONCURRENCY, users: USERS }
  await using ours = await startContender('client-paging', oursTask, options)
  const meanwhile = await latencies(othersDuring(http, api, ours.run()))
  const floorTask: BarePagingTask = { ...api, concurrency: CONCURRENCY }
  await using floor = await startContender('bare-paging', floorTask)
  const comparison = await compare({
    id: 'million',
    title: `all ${USERS / 100} pages of ${USERS} users`,
    floorTitle: `undici GETs, ${CONCURRENCY} at once`,
    service: service.kind,
    count: USERS,
    ours,
    floor,
    repetitions: options.repetitions ?? 1,
  })
  const notes = [
    `${SINGLE_PAGES} single pages anywhere in the list: ${describe(single)}`,
    `other requests while all pages are read: ${describe(meanwhile)}`,
    ...(await benchChangingList({ http, api, database, people: PEOPLE, guests: GUESTS })),
  ]
  return [{ ...comparison, notes }]
}

/** Inserts the users with SQL, because creating them over the API would take too long. */
async function fillDirectory(database: string): Promise<void> {
  const client = new Client({ connectionString: database })
  await client.connect()
  const { directoryId } = FIXTURE
  try {
    await client.query(
      `insert into access_management.external_users (directory_id, external_id, email, name)
       select $1, case when n % $3 = 0 then 'guest-' || n / $3 else 'person-' || k end,
         'person-' || k || '@example.org', 'Given' || k % 5000 || ' Family' || k
       from (select n, n - n / $3::integer as k from generate_series(1, $2::integer) n) numbers order by n`,
      [directoryId, USERS, GUEST_EVERY],
    )
    await client.query(
      `insert into access_management.entry_blocks (directory_id, kind, block, entries)
       select directory_id, 'user', id / 1024, count(*) from access_management.external_users group by 1, 2, 3`,
    )
    await client.query('update access_management.directories set user_count = $2 where id = $1', [
      directoryId,
      USERS,
    ])
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

async function* randomPages(http: Pool, api: DirectoryApi): AsyncGenerator<number> {
  for (let index = 0; index < SINGLE_PAGES; index++) {
    const page = 1 + Math.floor((Math.random() * USERS) / 100)
    yield timed(http, api, `${api.usersPath}?page=${page}&per_page=100`)
  }
}

/** Times requests for a user and for the directory, about ten pairs per second, until `work` ends. */
async function* othersDuring(http: Pool, api: DirectoryApi, work: Promise<unknown>): AsyncGenerator<number> {
  const ended = new AbortController()
  const done = work.finally(() => ended.abort())
  for (let index = 0; !ended.signal.aborted; index++) {
    yield timed(http, api, `${api.usersPath}/person-${1 + ((index * 7919) % PEOPLE)}`)
    yield timed(http, api, api.usersPath.replace('/users', ''))
    await sleep(100)
  }
  await done
}

async function timed(http: Pool, { headers }: DirectoryApi, path: string): Promise<number> {
  const start = performance.now()
  const { statusCode, body } = await http.request({ path, method: 'GET', headers })
  await body.text()
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`)
  return performance.now() - start
}

function describe({ count, medianMs, p99Ms, maxMs }: Latencies): string {
  const [median, p99, max] = [medianMs, p99Ms, maxMs].map((ms) => ms.toFixed(1))
  return `median ${median} ms, 99 % under ${p99} ms, slowest ${max} ms (${count} requests)`
}
