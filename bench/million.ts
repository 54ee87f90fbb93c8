import { FIXTURE } from '../test/support/fixture.ts'
import { runSql } from '../test/support/postgres.ts'
import { type BenchOptions, compare, type Comparison } from './compare.ts'
import type { BareGetTask } from './contenders/bare-get.ts'
import type { BareReadingTask } from './contenders/bare-reading.ts'
import type { ClientPagingTask } from './contenders/client-paging.ts'
import { startServers } from './creating.ts'
import { NOBODY } from './people.ts'
import { startContender } from './processes.ts'
import { type BenchService, startRealService } from './services.ts'

const USERS = 1_000_000
/** The default of `readConcurrency`. */
const CONCURRENCY = 4
/** Requested one after the other. */
const SINGLE_PAGES = 500

/** Reads all pages of a directory of a million users on PostgreSQL, and single ones anywhere. */
export async function benchMillion({ repetitions = 1, people = USERS }: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const { postgres } = await startServers(stack)
  const database = await postgres.createDatabase()
  const service = stack.use(await startRealService(NOBODY, database))
  await fillDirectory(database, people)
  return [await compareAllPages(service, people, repetitions), await compareSinglePages(service, people)]
}

async function compareAllPages(
  service: BenchService,
  people: number,
  repetitions: number,
): Promise<Comparison> {
  const { baseUrl, api, kind } = service
  const oursTask: ClientPagingTask = { baseUrl, concurrency: CONCURRENCY, users: people }
  const floorTask: BareReadingTask = { directory: api, concurrency: CONCURRENCY }
  await using ours = await startContender('client-paging', oursTask)
  await using floor = await startContender('bare-reading', floorTask)
  return await compare({
    title: `all ${Math.ceil(people / 100)} pages of ${people} users`,
    floorTitle: `undici GETs, ${CONCURRENCY} at once`,
    service: kind,
    count: people,
    ours,
    floor,
    repetitions,
  })
}

/** A page deep in the list against the first one: the service must not count up to it. */
async function compareSinglePages({ api, kind }: BenchService, people: number): Promise<Comparison> {
  const { baseUrl, headers, usersPath } = api
  const pathOf = (page: number) => `${usersPath}?page=${page}&per_page=100`
  const anywhere = Array.from({ length: SINGLE_PAGES }, () => 1 + Math.floor((Math.random() * people) / 100))
  const oursTask: BareGetTask = { baseUrl, headers, paths: anywhere.map(pathOf) }
  await using ours = await startContender('bare-get', oursTask)
  await using floor = await startContender('bare-get', { ...oursTask, paths: [pathOf(1)] })
  const subject = { title: `a page anywhere of ${people} users`, floorTitle: 'the first page', service: kind }
  return await compare({ ...subject, count: 1, ours, floor, repetitions: SINGLE_PAGES })
}

/** Inserts the users with SQL, because creating them over the API would take too long. */
async function fillDirectory(database: string, people: number): Promise<void> {
  const id = FIXTURE.directoryId
  for (const statement of [
    `insert into access_management.external_users (directory_id, external_id, email, name)
     select ${id}, 'person-' || n, 'person-' || n || '@example.org', 'Given' || n % 5000 || ' Family' || n
     from generate_series(1, ${people}) n order by n`,
    `insert into access_management.entry_blocks (directory_id, kind, block, entries)
     select directory_id, 'user', id / 1024, count(*) from access_management.external_users group by 1, 2, 3`,
    `update access_management.directories set user_count = ${people} where id = ${id}`,
    'vacuum analyze',
  ])
    await runSql(database, statement)
}
