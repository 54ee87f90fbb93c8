import { EventEmitter, once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Pool } from 'pg'
import { stringify, parse } from 'yaml'
import { seededRandom } from '../../src/service/faults/faults.ts'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { COMPILE_CACHE } from '../support/compile-cache.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { directoriesFixture, FIXTURE } from '../support/fixture.ts'
import type { LdapProxy } from '../support/ldap-proxy.ts'
import { program } from '../support/packages.ts'
import { callService, readService, type ReadServiceOptions } from '../support/read-service.ts'
import { startService } from '../support/service.ts'
import { directorySection } from '../support/sync-config.ts'
import { ApiFaults } from './api-faults.ts'
import { type Company, CompanyHistory, type Edit, isOutsider } from './company-history.ts'
import { DaemonClient } from './daemon-client.ts'
import { dropDatabase, type Lane } from './lane.ts'
import { LDAP_PAGES, type ProcessName, type Schedule } from './schedule.ts'
import { type CompanySource, openCsvSource, openLdapSource } from './sources.ts'
import { Supervisor } from './supervisor.ts'
import { beginsList, type Write, writesOf } from './write-history.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const REAL_PROGRAM = fileURLToPath(new URL('real-program.ts', import.meta.url))
const TENTH_PROGRAM = fileURLToPath(new URL('../support/tenth-program.ts', import.meta.url))

export interface WorldOptions {
  readonly lane: Lane
  /** A folder for the configuration, the data and the logs. */
  readonly dir: string
  readonly serviceTemplate: string
  /** The folder of the program's sources: the project's, or that of a patched copy. */
  readonly tree: string
}

/** One thing that the source said. */
export interface Version {
  /** Milliseconds since 1970: from when on a read may see it, and from when on nothing older. */
  readonly begun: number
  ended: number
  readonly company: Company
}

/** Everything of one schedule: a service, a directory, a source, stores and the processes of dirsyncd. */
export interface World extends AsyncDisposable {
  readonly schedule: Schedule
  readonly lane: Lane
  readonly service: ReadServiceOptions
  readonly daemon: DaemonClient
  readonly processes: ReadonlyMap<ProcessName, Supervisor>
  readonly api: ApiFaults
  readonly ldap: LdapProxy | undefined
  /** What the source has said, the newest last. */
  readonly versions: readonly Version[]
  readonly writes: readonly Write[]
  /** `user ID` and `group ID` of what the directory had before everything. */
  readonly before: ReadonlySet<string>
  /** When reads of the directory's users began. */
  readonly lists: readonly number[]
  /** The URL of the store's database; `undefined` for the embedded store. */
  readonly store: string | undefined
  readonly logs: readonly string[]
  edit(edit: Edit): Promise<void>
  /** Resolves when dirsyncd asks for the next write, or after so long. */
  nextWrite(ms: number): Promise<void>
  /** Deletes the entry of the next update before the service gets it. Resolves with a function that ends this. */
  deleteNextUpdated(): () => void
  /** Entries that only the directory has. */
  addStrangers(): Promise<void>
  /** Steps the clock of the daemon. */
  setClock(days: number): Promise<void>
  startProcesses(): void
  /** The arguments of a process that runs this command. */
  command(...args: readonly string[]): {
    readonly args: readonly string[]
    readonly env: Readonly<Record<string, string>>
  }
}

const UNLIMITED = { maxDeletes: 1e6, maxDeletesPerDay: 1e6, maxDeletePercent: 100, maxUpdatePercent: null }
const GUARDS = {
  users: UNLIMITED,
  groups: UNLIMITED,
  memberships: UNLIMITED,
  maxSourceShrinkPercent: 100,
  maxMovedIds: 100_000,
}

export async function openWorld(schedule: Schedule, options: WorldOptions): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const { dir, lane, tree } = options
  const history = new CompanyHistory({
    ...schedule,
    canReturn: schedule.source === 'csv',
    onlyAdds: !schedule.prelude,
  })
  const service = await openService(stack, schedule, { history, options })
  const proxy = stack.use(await startApiProxy(service.baseUrl))
  const api = new ApiFaults(seededRandom(schedule.seed))
  const record = recordWrites(proxy, { schedule, api, service })
  const { users, groups } = await readService(service)
  const before = new Set([
    ...[...users.keys()].map((id) => `user ${id}`),
    ...[...groups.keys()].map((id) => `group ${id}`),
  ])
  const { source, ldap } = await openSource(stack, schedule, options)
  const versions: Version[] = [{ begun: 0, ended: 0, company: history.first }]
  await source.write(history.first)
  const store = schedule.backend === 'embedded' ? undefined : await lane.createStoreDatabase()
  if (store !== undefined) stack.defer(() => dropDatabase(store).catch(() => undefined))
  const queue = schedule.backend === 'redis' ? (await lane.redis()).url : 'store'
  if (schedule.backend === 'redis') await (await lane.redis()).flush()
  const dataDir = join(dir, 'data')
  if (store === undefined) await putEmptyStore(dataDir)
  const directory = directorySection(
    { baseUrl: proxy.baseUrl },
    { writeConcurrency: 4, createBatch: schedule.createBatch },
  )
  const scheduled = schedule.times === 'real' ? '5s' : '3s'
  const sync = { name: 'corp', schedule: scheduled, source: source.section, directory, guards: GUARDS }
  const config = join(dir, 'dirsyncd.yaml')
  const settings = { dataDir, store: store ?? 'embedded', queue, admin: { listen: false }, syncs: [sync] }
  await writeFile(config, stringify(settings))
  const entry = join(tree, relative(ROOT, schedule.times === 'real' ? REAL_PROGRAM : TENTH_PROGRAM))
  const command = (...args: readonly string[]) => ({
    args: [entry, ...args, '--config', config],
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
  })
  const clock = join(dir, 'clock')
  const processes = new Map<ProcessName, Supervisor>()
  const log = (name: string) => join(dir, `${name}.log`)
  const owned = stack.move()
  const start = (name: ProcessName, more: Record<string, string>) => {
    const { args, env } = command(name === 'daemon' ? 'start' : 'worker')
    processes.set(name, owned.use(new Supervisor({ name, args, env: { ...env, ...more }, log: log(name) })))
  }
  const names: ProcessName[] = schedule.worker ? ['daemon', 'worker'] : ['daemon']
  return {
    schedule,
    lane,
    service,
    daemon: new DaemonClient(dataDir),
    processes,
    api,
    ldap,
    versions,
    writes: record.writes,
    before,
    lists: record.lists,
    store,
    logs: names.map(log),
    command,
    deleteNextUpdated: record.deleteNextUpdated,
    nextWrite: async (ms) => {
      const signal = AbortSignal.timeout(ms)
      await once(record.arrived, 'write', { signal }).catch(() => undefined)
    },
    edit: async (edit) => {
      const company = history.after(versions.at(-1)!.company, edit)
      const version = { begun: Date.now(), ended: Number.POSITIVE_INFINITY, company }
      versions.push(version)
      await source.write(company)
      version.ended = Date.now()
    },
    addStrangers: () => addStrangers(record.writeOutside),
    setClock: (days) => writeFile(clock, `${days < 0 ? '' : '+'}${days}d`),
    startProcesses: () => {
      const fakesTime = schedule.faults.some(({ kind }) => kind === 'clock')
      for (const name of names) {
        start(name, fakesTime && name === 'daemon' ? fakeClock(clock) : {})
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The wall clock is what the file says; timers go on as they are. */
function fakeClock(file: string): Record<string, string> {
  return {
    LD_PRELOAD: program('libfaketimeMT.so.1'),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
}

async function openService(
  stack: AsyncDisposableStack,
  schedule: Schedule,
  { history, options }: { readonly history: CompanyHistory; readonly options: WorldOptions },
): Promise<ReadServiceOptions> {
  const database = await options.lane.createServiceDatabase(options.serviceTemplate)
  stack.defer(() => dropDatabase(database))
  const pool = stack.adopt(new Pool({ connectionString: database }), (each) => each.end())
  pool.on('error', () => undefined)
  const fixture = fixtureOf(history.first, schedule)
  const service = await startService({
    pool,
    fixture,
    uniqueExternalIds: schedule.uniqueIds,
    rateLimit: undefined,
  })
  stack.defer(() => service.close())
  const { token, organizationId, directoryId } = FIXTURE
  return { baseUrl: service.baseUrl, token, organizationId, directoryId }
}

/** The service's fixture with what the directory has before the first run. */
function fixtureOf(company: Company, schedule: Schedule): string {
  const random = seededRandom(schedule.seed + 1)
  const { before, prelude } = schedule
  const fixture = parse(directoriesFixture([`{ id: ${FIXTURE.directoryId}, name: Corporate }`]))
  const [directory] = fixture.organizations[0].directories
  const differs = () => before !== 'equal' && random() < 0.3
  const has = () => before === 'equal' || (before !== 'empty' && random() < 0.8)
  const users = [...company.users].filter(([, person]) => !isOutsider(person) && has())
  const known = new Set(users.map(([id]) => id))
  directory.users = users.map(([id, { name, email }]) => ({
    external_id: id,
    name: differs() ? `${name} before` : name,
    ...(email !== undefined && { email }),
  }))
  // Without a run before, nothing may have to be taken out of a group: dirsyncd would ask a person.
  const differing = (member: string) => known.has(member) && !differs()
  directory.groups = [...company.groups]
    .filter(() => before !== 'empty')
    .map(([id, { name, members }]) => ({
      external_id: id,
      name: differs() ? `${name} before` : name,
      external_member_ids: [...members].filter(
        (member) => (prelude && before === 'equal') || differing(member),
      ),
    }))
  return stringify(fixture)
}

async function openSource(
  stack: AsyncDisposableStack,
  { source, users }: Schedule,
  { lane, dir }: WorldOptions,
): Promise<{ readonly source: CompanySource; readonly ldap: LdapProxy | undefined }> {
  if (source === 'csv') return { source: await openCsvSource(dir), ldap: undefined }
  const opened = await openLdapSource(stack, await lane.slapd(), {
    dir,
    unit: lane.newUnit(),
    pageSize: Math.floor(users / LDAP_PAGES),
  })
  return { source: opened, ldap: opened.proxy }
}

interface Recorded {
  readonly schedule: Schedule
  readonly api: ApiFaults
  readonly service: ReadServiceOptions
}

/** Records what reaches the service, and lets the faults of the API happen. */
function recordWrites(proxy: ApiProxy, { schedule, api, service }: Recorded) {
  const writes: Write[] = []
  const lists: number[] = []
  const arrivals = new WeakMap<object, number>()
  const arrived = new EventEmitter().setMaxListeners(100)
  let deletesNext = false

  proxy.intercept = async (request) => {
    const [write] = writesOf(request)
    if (write !== undefined) arrived.emit('write')
    if (beginsList(request)) lists.push(Date.now())
    const interception = await api.intercept(request)
    arrivals.set(request, Date.now())
    const reaches =
      interception === undefined || (typeof interception === 'object' && !('status' in interception))
    if (reaches && deletesNext && write?.op === 'update' && write.kind === 'user') {
      deletesNext = false
      await writeOutside('DELETE', `/users/${encodeURIComponent(write.id)}`)
    }
    if (!reaches || schedule.perPage === 100) return interception
    const url = request.url.replace(/([?&]per_page=)\d+/, `$1${schedule.perPage}`)
    return typeof interception === 'object' ? { ...interception, url } : { url }
  }
  proxy.answered = (request, status, body) => {
    const at = Date.now()
    for (const write of writesOf({ ...request, body }))
      writes.push({ ...write, at, since: arrivals.get(request) ?? at, outside: false, status })
  }

  async function writeOutside(method: string, path: string, form?: Record<string, string>): Promise<void> {
    const since = Date.now()
    const status = await callService(service, method, path, form)
    const url = `/directories/${service.directoryId}${path}`
    const body = form === undefined ? '' : new URLSearchParams(form).toString()
    for (const write of writesOf({ method, url, body }))
      writes.push({ ...write, at: Date.now(), since, outside: true, status })
  }

  return {
    writes,
    lists,
    arrived,
    writeOutside,
    deleteNextUpdated: () => {
      deletesNext = true
      return () => {
        deletesNext = false
      }
    },
  }
}

async function addStrangers(
  write: (method: string, path: string, form: Record<string, string>) => Promise<void>,
): Promise<void> {
  for (let number = 1; number <= 4; number += 1) {
    const form = { 'users[][external_id]': `stranger${number}`, 'users[][name]': `Stranger ${number}` }
    await write('POST', '/users', form)
  }
  await write('POST', '/groups', { 'groups[][external_id]': 'strangers', 'groups[][name]': 'Strangers' })
}

/** What a process has printed; '' before it was started. */
export function readLog(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
