import type { RequestLine } from '../../src/service/http/request-log.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Company, CSV_SOURCE, csvFiles, fixtureOf } from './company.ts'
import type { Program } from './program.ts'
import { readService } from './read-service.ts'
import { FIXTURE } from './fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from './site.ts'
import { directorySection, embeddedConfig } from './sync-config.ts'

/** Where store and queue of a daemon are. */
export interface Places {
  readonly store: string
  readonly queue: string
}

/** A service, and a site whose source is a company's CSV files. */
export interface CrashSite extends AsyncDisposable {
  readonly service: ServiceSite
  readonly site: Site
  /** Makes the source tell this company. */
  become(company: Company): Promise<void>
  /** The writes that the service has done. */
  writes(): Promise<readonly RequestLine[]>
  /** Resolves when the service has done so many writes; rejects after `ms`. */
  wrote(count: number, ms?: number): Promise<void>
  /** Asks the running daemon for a run; resolves when that has begun to write. */
  ask(): Promise<void>
}

/** The daemon's log line of a run that did everything. */
export const RUN_DONE = /"end":"done","msg":"run ended"/

const UNGUARDED = { maxDeletes: 10_000, maxDeletePercent: 100, maxDeletesPerDay: 10_000 }

/**
 * A sync whose source and directory both are this company. The service answers slowly, so that a crash finds requests
 * under way, and would create an external id twice.
 */
export async function openCrashSite(places: Places, company: Company): Promise<CrashSite> {
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
    guards: {
      users: UNGUARDED,
      groups: UNGUARDED,
      memberships: UNGUARDED,
      maxSourceShrinkPercent: 100,
    },
  }
  await site.configure(embeddedConfig([sync], places))
  const become = async (next: Company) => {
    for (const [name, text] of Object.entries(csvFiles(next))) await site.write(name, text)
  }
  await become(company)
  const owned = stack.move()
  const crashSite: CrashSite = {
    service,
    site,
    become,
    writes: async () => (await service.requests()).filter(isDoneWrite),
    wrote: async (count, ms = 60_000) => {
      const deadline = Date.now() + ms
      while ((await crashSite.writes()).length < count) {
        if (Date.now() > deadline) throw new Error(`the service had not done ${count} writes after ${ms} ms`)
        await sleep(30)
      }
    },
    ask: async () => {
      await using _command = site.start('sync', 'corp')
      await crashSite.wrote(1)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
  return crashSite
}

function isDoneWrite({ method, done }: RequestLine): boolean {
  return method !== 'GET' && done
}

/** The directory shows this company and nothing else, as an independent reader sees it. */
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
  /** The writes that the service had done when it fell, and when the victim was started again (ms since 1970). */
  readonly after: number
  readonly restartedAt: number
}

/**
 * Kills each victim so many times, whenever the service has done another random number of writes, and starts it again at
 * once or after a short time.
 */
export async function killAtRandom(
  crashSite: CrashSite,
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
    await crashSite.wrote(points[index]!)
    await victim.program.printed(new RegExp(`${victim.name} started`))
    victim.program.kill('SIGKILL')
    await victim.program.ended
    const after = (await crashSite.writes()).length
    await sleep(random() < 0.5 ? 0 : 1500 * random())
    kills.push({ name: victim.name, after, restartedAt: Date.now() })
    victim.program = victim.start()
  }
  return kills
}
