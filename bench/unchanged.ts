import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { startPostgres } from '../test/support/postgres.ts'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { BASE, type Slapd, startSlapd, peopleSections } from '../test/support/slapd.ts'
import { tempDir } from '../test/support/temp.ts'
import { compare, type Comparison } from './compare.ts'
import type { BareReadingTask } from './contenders/bare-reading.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { newStores, startServers } from './creating.ts'
import type { BenchOptions } from './options.ts'
import { groupLdif, type PersonGroup, personGroup } from '../test/support/people.ts'
import { entriesOf, teams } from './people.ts'
import { startContender } from './processes.ts'
import { type BenchService, startInstantService, startRealService } from './services.ts'
import { directoryApi } from './directory-api.ts'

/** The default of `readConcurrency`. */
const CONCURRENCY = 4

/** How much there is on both sides. */
interface Size {
  readonly people: number
  readonly groups: number
}

/** A group of everybody, 20,000 others, and somebody who is in 2,000 of them. */
const GROUPED = { people: 100_000, groups: 20_000, groupsOfOne: 2000 } as const

interface UnchangedCase extends Size {
  readonly service: BenchService
  readonly slapd: Slapd
  /** Where store and queue are; embedded without any. */
  readonly stores: object
  readonly repetitions: number
  /** Called before each repetition. */
  readonly before?: () => Promise<unknown>
}

/** A run without changes: reads both sides, compares them and reports. */
export async function benchUnchanged(options: BenchOptions): Promise<Comparison[]> {
  const size = { people: 20_000, groups: 200 }
  await using slapd = await startSlapd({ ...size, tls: false })
  await using stack = new AsyncDisposableStack()
  const postgres = stack.adopt(await startPostgres(), (server) => server.close())
  const entries = entriesOf(size.people, teams(size.groups, size.people))
  const results: Comparison[] = []
  const { repetitions = 9 } = options
  for (const open of [
    () => startInstantService(entries),
    async () => startRealService(entries, await postgres.createDatabase()),
  ]) {
    await using service = await open()
    results.push(await benchWith({ ...size, service, slapd, stores: {}, repetitions }, options))
  }
  return results
}

/** The same for 100,000 and a million people without groups, with store and queue on servers. */
export async function benchUnchangedLarge(options: BenchOptions): Promise<Comparison[]> {
  const results: Comparison[] = []
  for (const [people, repetitions] of [
    [100_000, 7],
    [1_000_000, 3],
  ] as const) {
    const { comparison } = await measureUnchanged(people, {
      ...options,
      repetitions: options.repetitions ?? repetitions,
    })
    results.push(comparison)
  }
  return results
}

/** The same with many groups, small and large. */
export async function benchGroups(options: BenchOptions): Promise<Comparison[]> {
  const { people, groups } = GROUPED
  const all = manyGroups()
  await using stack = new AsyncDisposableStack()
  const ldifs = all.map((group) => groupLdif(group, BASE))
  const slapd = stack.use(await startSlapd({ people, ldifs, tls: false }))
  const stores = await newStores(await startServers(stack))
  const service = stack.use(await startInstantService(entriesOf(people, all)))
  const before = () => service.reset()
  const { repetitions = 5 } = options
  const size = { people, groups: groups + 1 }
  return [await benchWith({ ...size, service, slapd, stores, repetitions, before }, options)]
}

function manyGroups(): PersonGroup[] {
  const { people, groups, groupsOfOne } = GROUPED
  const small = teams(groups, people).map((group, index) => {
    return index < groupsOfOne ? { ...group, members: [...new Set([0, ...group.members])] } : group
  })
  const everybody = Array.from({ length: people }, (_, index) => index)
  return [...small, { ...personGroup(groups, BASE, people), cn: 'Everybody', members: everybody }]
}

/** One size of the same, and how many requests a run sends. */
export async function measureUnchanged(
  people: number,
  options: Pick<BenchOptions, 'profileDir'> & { readonly repetitions: number },
): Promise<{ readonly comparison: Comparison; readonly requests: number }> {
  await using stack = new AsyncDisposableStack()
  const slapd = stack.use(await startSlapd({ people, tls: false }))
  const servers = await startServers(stack)
  const service = stack.use(await startInstantService(entriesOf(people)))
  const stores = await newStores(servers)
  const { repetitions, profileDir } = options
  const before = () => service.reset()
  const size = { people, groups: 0 }
  const comparison = await benchWith({ ...size, service, slapd, stores, repetitions, before }, { profileDir })
  const { reads, writes } = await service.requests()
  return { comparison, requests: reads + writes }
}

async function benchWith(
  { people, groups, service, slapd, stores, repetitions, before }: UnchangedCase,
  options: Pick<BenchOptions, 'profileDir'>,
): Promise<Comparison> {
  await using dir = await tempDir()
  const config = join(dir.path, 'dirsyncd.yaml')
  await writeFile(config, stringify(configOf(service, slapd, stores)))
  const { dn, password } = slapd.readers.reader
  const floorTask: BareReadingTask = {
    ...directoryApi(service.baseUrl),
    ldap: { url: slapd.url, dn, password, base: slapd.base },
    concurrency: CONCURRENCY,
  }
  const oursTask: DaemonTask = { config, sync: 'corp', expect: { unchanged: people + groups, applied: 0 } }
  await using floor = await startContender('bare-reading', floorTask)
  await using ours = await startContender('daemon', oursTask, options)
  return await compare({
    id: `unchanged-${service.kind}-${people}`,
    title: `run without changes, ${people} users, ${groups} groups`,
    floorTitle: 'undici pages + ldapts reads',
    service: service.kind,
    count: people + groups,
    ours,
    floor,
    repetitions,
    ...(before !== undefined && { before }),
  })
}

function configOf(service: BenchService, slapd: Slapd, stores: object): object {
  return embeddedConfig(
    [
      {
        name: 'corp',
        source: {
          type: 'ldap',
          url: slapd.url,
          bind: {
            dn: slapd.readers.reader.dn,
            password: { command: ['echo', slapd.readers.reader.password] },
          },
          ...peopleSections(slapd.base),
        },
        directory: directorySection(service, { readConcurrency: CONCURRENCY }),
      },
    ],
    { log: { level: 'warn' }, ...stores },
  )
}
