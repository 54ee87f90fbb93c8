import type { RequestLine } from '../../src/service/http/request-log.ts'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { expect } from 'vitest'
import { type Company, CSV_SOURCE, csvFiles, fixtureOf } from './company.ts'
import { eventually } from './eventually.ts'
import type { Program } from './program.ts'
import { readService } from './read-service.ts'
import { FIXTURE } from './fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from './site.ts'
import { directorySection, embeddedConfig, NO_GUARDS } from './sync-config.ts'

/** The `store` and `queue` values of a daemon's configuration. */
export interface StoreSettings {
  readonly store: string
  readonly queue: string
}

/** A service, and a site whose source is a company's CSV files. */
export interface CompanySite extends AsyncDisposable {
  readonly service: ServiceSite
  readonly site: Site
  /** Writes this company to the source's CSV files. */
  setSource(company: Company): Promise<void>
  /** The writes that the service has executed. */
  writes(): Promise<readonly RequestLine[]>
  /** Resolves when the service has executed `count` writes. */
  waitForWrites(count: number): Promise<void>
  /** Requests a run from the running daemon; resolves after the run's first write. */
  requestRun(): Promise<void>
}

/** The daemon's log line for a run that finished without failures. */
export const RUN_DONE = /"end":"done","msg":"run ended"/

/**
 * A sync whose source and directory start with the same company. The service answers slowly, so that a crash hits
 * pending requests. It accepts an external id twice, so that a repeated create becomes visible.
 */
export async function openCompanySite(stores: StoreSettings, company: Company): Promise<CompanySite> {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(
    await startServiceSite({
      fixture: fixtureOf(company),
      faults: 'latency=1:15ms',
      uniqueExternalIds: false,
    }),
  )
  const site = stack.use(await openSite())
  const sync = {
    name: 'corp',
    source: CSV_SOURCE,
    directory: directorySection(service, { writeConcurrency: 4 }),
    guards: NO_GUARDS,
  }
  await site.configure(embeddedConfig([sync], stores))
  const setSource = async (next: Company) => {
    for (const [name, text] of Object.entries(csvFiles(next))) await site.write(name, text)
  }
  await setSource(company)
  const owned = stack.move()
  const companySite: CompanySite = {
    service,
    site,
    setSource,
    writes: async () => (await service.requests()).filter(isExecutedWrite),
    waitForWrites: (count) =>
      eventually(async () => expect((await companySite.writes()).length).toBeGreaterThanOrEqual(count)),
    requestRun: async () => {
      await postRun(site)
      await companySite.waitForWrites(1)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
  return companySite
}

/** Asks the daemon for a run as `dirsyncd sync corp` does, without a process for the command. */
async function postRun({ dataDir }: Site): Promise<void> {
  const admin = new Client('http://daemon', { socketPath: join(dataDir, 'admin.sock') })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ operation: 'requestRun', input: [{ sync: 'corp', mode: 'sync' }] })
  const answer = await admin.request({ method: 'POST', path: '/call', headers, body })
  await answer.body.dump()
  await admin.close()
  expect(answer.statusCode).toBeLessThan(300)
}

function isExecutedWrite({ method, done }: RequestLine): boolean {
  return method !== 'GET' && done
}

/** Expects the directory to equal this company, read without the code of `src/`. */
export async function expectDirectory(service: ServiceSite, company: Company): Promise<void> {
  const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  expect(seen.duplicates).toEqual([])
  expect(Object.fromEntries(seen.users)).toEqual(Object.fromEntries(company.users))
  expect(Object.fromEntries(seen.groups)).toEqual(Object.fromEntries(company.groups))
}

/** A process that is killed and started again. */
export interface Victim {
  readonly name: 'daemon' | 'worker'
  readonly start: () => Program
  program: Program
}

export interface Kill {
  readonly name: Victim['name']
  /** How many writes the service had executed at the kill. */
  readonly after: number
  /** Milliseconds since 1970. */
  readonly restartedAt: number
}

/**
 * Kills each victim `times` times, each time after a random number of writes up to `upTo`, and restarts it at once or
 * after up to 1.5 seconds.
 */
export async function killAtRandom(
  companySite: CompanySite,
  victims: readonly Victim[],
  options: { readonly times: number; readonly upTo: number; readonly random: () => number },
): Promise<readonly Kill[]> {
  const { times, upTo, random } = options
  const order = victims
    .flatMap((victim) => Array.from({ length: times }, () => ({ victim, at: random() })))
    .toSorted((a, b) => a.at - b.at)
  const points = order.map(() => 20 + Math.floor(random() * (upTo - 20))).toSorted((a, b) => a - b)
  const kills: Kill[] = []
  for (const [index, { victim }] of order.entries()) {
    await companySite.waitForWrites(points[index]!)
    await victim.program.waitForOutput(new RegExp(`${victim.name} started`))
    victim.program.kill('SIGKILL')
    await victim.program.ended
    const after = (await companySite.writes()).length
    await sleep(random() < 0.5 ? 0 : 1500 * random())
    kills.push({ name: victim.name, after, restartedAt: Date.now() })
    victim.program = victim.start()
  }
  return kills
}
