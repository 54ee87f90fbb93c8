import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { startPostgres } from '../test/support/postgres.ts'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { type Slapd, startSlapd, peopleSections } from '../test/support/slapd.ts'
import { tempDir } from '../test/support/temp.ts'
import { compare, type Comparison } from './compare.ts'
import type { BareReadingTask } from './contenders/bare-reading.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import type { BenchOptions } from './options.ts'
import { entriesOf } from './people.ts'
import { startContender } from './processes.ts'
import { type BenchService, startInstantService, startRealService } from './services.ts'
import { directoryApi } from './directory-api.ts'

const PEOPLE = 20_000
const GROUPS = 200
/** The default of `readConcurrency`. */
const CONCURRENCY = 4

/** A run without changes: reads both sides, compares them and reports. */
export async function benchUnchanged(options: BenchOptions): Promise<Comparison[]> {
  await using slapd = await startSlapd({ people: PEOPLE, groups: GROUPS, tls: false })
  await using stack = new AsyncDisposableStack()
  const postgres = stack.adopt(await startPostgres(), (server) => server.close())
  const entries = entriesOf(PEOPLE, GROUPS)
  const results: Comparison[] = []
  for (const open of [
    () => startInstantService(entries),
    async () => startRealService(entries, await postgres.createDatabase()),
  ]) {
    await using service = await open()
    results.push(await benchWith(service, slapd, options))
  }
  return results
}

async function benchWith(service: BenchService, slapd: Slapd, options: BenchOptions): Promise<Comparison> {
  await using dir = await tempDir()
  const config = join(dir.path, 'dirsyncd.yaml')
  await writeFile(config, stringify(configOf(service, slapd)))
  const { dn, password } = slapd.readers.reader
  const floorTask: BareReadingTask = {
    ...directoryApi(service.baseUrl),
    ldap: { url: slapd.url, dn, password, base: slapd.base },
    concurrency: CONCURRENCY,
  }
  const oursTask: DaemonTask = { config, sync: 'corp', expect: { unchanged: PEOPLE + GROUPS, applied: 0 } }
  await using floor = await startContender('bare-reading', floorTask)
  await using ours = await startContender('daemon', oursTask, options)
  return await compare({
    id: `unchanged-${service.kind}`,
    title: `run without changes, ${PEOPLE} users, ${GROUPS} groups`,
    floorTitle: 'undici pages + ldapts reads',
    service: service.kind,
    count: PEOPLE + GROUPS,
    ours,
    floor,
    repetitions: options.repetitions ?? 9,
  })
}

function configOf(service: BenchService, slapd: Slapd): object {
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
    { log: { level: 'warn' } },
  )
}
