import { directorySection } from '../test/support/sync-config.ts'
import { type Slapd, startSlapd, peopleSections } from '../test/support/slapd.ts'
import { tempDir } from '../test/support/temp.ts'
import { type BenchOptions, compare, type Comparison } from './compare.ts'
import type { BareReadingTask } from './contenders/bare-reading.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { newStores, startServers } from './creating.ts'
import { entriesOf, teams } from './people.ts'
import { startContender } from './processes.ts'
import { type BenchService, startInstantService, startRealService } from './services.ts'
import { writeSync } from './sync-folder.ts'

/** The default of `readConcurrency`. */
const CONCURRENCY = 4

/** How much there is on both sides. */
interface Size {
  readonly people: number
  readonly groups: number
}

const EMBEDDED: Size = { people: 20_000, groups: 200 }
/** Without groups, with their repetitions. */
const ON_SERVERS = [
  [100_000, 7],
  [1_000_000, 3],
] as const

interface UnchangedCase extends Size {
  readonly service: BenchService
  readonly slapd: Slapd
  /** Where store and queue are; embedded without any. */
  readonly stores?: object
  readonly repetitions: number
}

/** Runs without changes: they read both sides, compare them and report. */
export async function benchUnchanged({ repetitions, people }: BenchOptions): Promise<Comparison[]> {
  if (people !== undefined) return [await measureOnServers(people, repetitions ?? 3)]
  const results = await measureEmbedded(repetitions ?? 9)
  for (const [size, usual] of ON_SERVERS) results.push(await measureOnServers(size, repetitions ?? usual))
  return results
}

async function measureEmbedded(repetitions: number): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const slapd = stack.use(await startSlapd({ ...EMBEDDED, tls: false }))
  const { postgres } = await startServers(stack)
  const entries = entriesOf(EMBEDDED.people, teams(EMBEDDED.groups, EMBEDDED.people))
  const results: Comparison[] = []
  for (const open of [
    () => startInstantService(entries),
    async () => startRealService(entries, await postgres.createDatabase()),
  ]) {
    await using service = await open()
    results.push(await measure({ ...EMBEDDED, service, slapd, repetitions }))
  }
  return results
}

/** With store and queue on servers. */
async function measureOnServers(people: number, repetitions: number): Promise<Comparison> {
  await using stack = new AsyncDisposableStack()
  const slapd = stack.use(await startSlapd({ people, tls: false }))
  const stores = await newStores(await startServers(stack))
  const service = stack.use(await startInstantService(entriesOf(people)))
  return await measure({ people, groups: 0, service, slapd, stores, repetitions })
}

async function measure(unchanged: UnchangedCase): Promise<Comparison> {
  const { people, groups, service, slapd, stores, repetitions } = unchanged
  await using dir = await tempDir()
  const { dn, password } = slapd.readers.reader
  const bind = { dn, password: { command: ['echo', password] } }
  const source = { type: 'ldap', url: slapd.url, bind, ...peopleSections(slapd.base) }
  const directory = directorySection(service, { readConcurrency: CONCURRENCY })
  const config = await writeSync(dir.path, { source, directory }, stores)
  const floorTask: BareReadingTask = {
    directory: service.api,
    ldap: { url: slapd.url, dn, password, base: slapd.base, people, groups },
    concurrency: CONCURRENCY,
  }
  const oursTask: DaemonTask = { config, sync: 'corp', expect: { unchanged: people + groups, applied: 0 } }
  await using floor = await startContender('bare-reading', floorTask)
  await using ours = await startContender('daemon', oursTask)
  const place = stores === undefined ? 'embedded' : 'stores on servers'
  return await compare({
    title: `run without changes, ${people} users, ${groups} groups, ${place}`,
    floorTitle: 'undici pages + ldapts reads',
    service: service.kind,
    count: people + groups,
    ours,
    floor,
    repetitions,
  })
}
