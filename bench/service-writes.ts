import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts'
import { type BenchOptions, compare, type Comparison } from './compare.ts'
import type { BareInsertsTask } from './contenders/bare-inserts.ts'
import type { BarePostingTask } from './contenders/bare-posting.ts'
import { CONCURRENCY } from './creating.ts'
import { NOBODY } from './people.ts'
import { openedAnew, startContender } from './processes.ts'
import { startRealService } from './services.ts'

interface Writes {
  readonly store: 'PostgreSQL' | 'embedded'
  readonly people: number
  readonly perRequest: number
}

const CASES: readonly Writes[] = [
  { store: 'PostgreSQL', people: 15_000, perRequest: 1 },
  { store: 'PostgreSQL', people: 100_000, perRequest: 100 },
  { store: 'embedded', people: 5000, perRequest: 1 },
]

/** What the service itself takes, with its store on the same core and the client on another. */
export async function benchServiceWrites({ repetitions = 3, people }: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  stack.defer(() => pin(`0-${cpus().length - 1}`))
  pin('1')
  const postgres = stack.adopt(await startPostgres(), (server) => server.close())
  const results: Comparison[] = []
  for (const writes of CASES) {
    const size = people === undefined ? writes : { ...writes, people }
    results.push(await measure(size, postgres, repetitions))
  }
  return results
}

async function measure(writes: Writes, postgres: PostgresServer, repetitions: number): Promise<Comparison> {
  const { store, people, perRequest } = writes
  const work = { people, perRequest, concurrency: CONCURRENCY }
  const ours = openedAnew(async (stack) => {
    pin('1')
    const database = store === 'embedded' ? store : await postgres.createDatabase()
    const service = stack.use(await startRealService(NOBODY, database))
    pin('0')
    const task: BarePostingTask = { ...service.api, ...work }
    return stack.use(await startContender('bare-posting', task, 0))
  })
  pin('0')
  const floorTask: BareInsertsTask = { database: await postgres.createDatabase(), ...work }
  await using floor = await startContender('bare-inserts', floorTask)
  return await compare({
    title: `${people} users to the service, ${perRequest} in one request, ${store}`,
    floorTitle: `INSERTs of ${perRequest}, ${CONCURRENCY} at once`,
    service: 'real',
    count: people,
    ours,
    floor,
    repetitions,
  })
}

/** Binds this process, and those that it starts from now on, to these cores. */
function pin(cores: string): void {
  execFileSync('taskset', ['-acp', cores, String(process.pid)], { stdio: 'ignore' })
}
