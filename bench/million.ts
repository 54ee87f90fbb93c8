import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Pool } from 'undici'
import { FIXTURE } from '../test/support/fixture.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { compare, type Comparison } from './compare.ts'
import type { BarePagingTask } from './contenders/bare-paging.ts'
import type { ClientPagingTask } from './contenders/client-paging.ts'
import { type Latencies, latencies } from './latencies.ts'
import { benchMoving } from './moving.ts'
import { startOpponent } from './processes.ts'
import type { Setting } from './setting.ts'
import { startRealService } from './sites.ts'
import { type Target, targetAt } from './target.ts'

const USERS = 1_000_000
/** Every so many-th user is a guest: see `moving.ts`. */
const GUEST_EVERY = 20
const GUESTS = USERS / GUEST_EVERY
const PEOPLE = USERS - GUESTS
/** The default of `readConcurrency`. */
const CONCURRENCY = 4
/** Pages asked for one after the other, anywhere in the list. */
const SINGLE_PAGES = 500

/** A directory of a million users on PostgreSQL: reading all its pages, and what others notice of it meanwhile. */
export async function benchMillion(setting: Setting): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.adopt(await startPostgres(), (server) => server.close())
  const database = await postgres.createDatabase()
  const service = stack.use(
    await startRealService({ users: [], groups: [] }, database, { uniqueExternalIds: false }),
  )
  await fillDirectory(database)
  const target = targetAt(service.baseUrl)
  const http = stack.adopt(new Pool(service.baseUrl), (pool) => pool.close())
  const single = await latencies(randomPages(http, target))
  const oursTask: ClientPagingTask = { baseUrl: service.baseUrl, concurrency: CONCURRENCY, users: USERS }
  await using ours = await startOpponent('client-paging', oursTask, setting.profileDir)
  const meanwhile = await latencies(othersDuring(http, target, ours.run()))
  const floorTask: BarePagingTask = { ...target, concurrency: CONCURRENCY }
  await using floor = await startOpponent('bare-paging', floorTask)
  const comparison = await compare({
    id: 'million',
    title: `all ${USERS / 100} pages of ${USERS} users`,
    floorTitle: `undici GETs, ${CONCURRENCY} at once`,
    service: service.kind,
    count: USERS,
    ours,
    floor,
    repetitions: setting.repetitions ?? 1,
  })
  const notes = [
    `${SINGLE_PAGES} single pages anywhere in the list: ${inWords(single)}`,
    `other requests while all pages are read: ${inWords(meanwhile)}`,
    ...(await benchMoving({ http, target, database, people: PEOPLE, guests: GUESTS })),
  ]
  return [{ ...comparison, notes }]
}

/** As the API would have, in a few seconds. */
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

async function* randomPages(http: Pool, target: Target): AsyncGenerator<number> {
  for (let index = 0; index < SINGLE_PAGES; index++) {
    const page = 1 + Math.floor((Math.random() * USERS) / 100)
    yield timed(http, target, `${target.usersPath}?page=${page}&per_page=100`)
  }
}

/** Reads of another kind, ten a second, until the work has ended. */
async function* othersDuring(http: Pool, target: Target, work: Promise<unknown>): AsyncGenerator<number> {
  const ended = new AbortController()
  const done = work.finally(() => ended.abort())
  for (let index = 0; !ended.signal.aborted; index++) {
    yield timed(http, target, `${target.usersPath}/person-${1 + ((index * 7919) % PEOPLE)}`)
    yield timed(http, target, target.usersPath.replace('/users', ''))
    await sleep(100)
  }
  await done
}

async function timed(http: Pool, { headers }: Target, path: string): Promise<number> {
  const start = performance.now()
  const { statusCode, body } = await http.request({ path, method: 'GET', headers })
  await body.text()
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`)
  return performance.now() - start
}

function inWords({ count, medianMs, p99Ms, maxMs }: Latencies): string {
  const [median, p99, max] = [medianMs, p99Ms, maxMs].map((ms) => ms.toFixed(1))
  return `median ${median} ms, 99 % under ${p99} ms, slowest ${max} ms (${count} requests)`
}
