import { compare, type Comparison } from './compare.ts'
import { creatingDaemon, startServers } from './creating.ts'
import type { BenchOptions } from './options.ts'
import { startInstantService } from './services.ts'

const PEOPLE = 20_000
/** How long the service takes for a write, so that waiting for it limits one process. */
const WRITE_MS = 20

/** A run that creates all users, by a daemon alone against a daemon and a worker: the ratio is what the worker adds. */
export async function benchWorkers({ repetitions = 3, profileDir }: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const service = stack.use(await startInstantService({ users: [], groups: [] }, { writeMs: WRITE_MS }))
  const options = { service, people: PEOPLE, servers, profileDir }
  const comparison = await compare({
    id: 'workers',
    title: `${PEOPLE} creates of ${WRITE_MS} ms each, a daemon alone`,
    floorTitle: 'a daemon and a worker',
    service: service.kind,
    count: PEOPLE,
    ours: creatingDaemon(options),
    floor: creatingDaemon({ ...options, withWorker: true }),
    before: () => service.reset(),
    repetitions,
  })
  return [comparison]
}
