import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { type AdminOptions, buildAdminApp } from '../admin/app.ts'
import { socketPath } from '../admin/socket.ts'
import type { Config } from '../config/config.ts'
import type { RunView } from '../control/control.ts'
import { Executor } from '../sync/executor.ts'
import type { DiagnosticsRequest } from '../control/bundle/diagnostics.ts'
import { createLocalControl } from '../control/local.ts'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import { openRunsQueue, restoreSchedules, setSchedules, startRunsWorker, wake } from '../queue/runs.ts'
import { freeDeadLeases } from '../store/lease.ts'
import { freeLeasesOf } from '../store/lease-rows.ts'
import { acquireDataDir } from '../store/owner.ts'
import type { Times } from '../queue/times.ts'
import { addRun, hasRuns, syncsWithWork } from '../store/runs.ts'
import { repeatOptions } from '../sync/schedule.ts'
import { diagnoseDaemon } from './diagnose.ts'
import { createExplain } from './explain.ts'
import { openServicePool } from './open-service.ts'
import { openRequestLog } from './request-log.ts'
import { listen, startService } from './service.ts'
import {
  openClients,
  openSetups,
  openSite,
  openSources,
  retentionOf,
  type Site,
  startChangeWorkers,
  targetOf,
} from './site.ts'
import { watchSources } from './watch-sources.ts'

export interface DaemonOutput {
  /** One line for a person. */
  readonly announce: (line: string) => void
  /** Called when a run has ended. */
  readonly onRunEnd: (run: RunView) => void
}

/** Schedules, workers and admin pages in one process, until the signal. */
export async function runDaemon(
  config: Config,
  log: Log,
  signal: AbortSignal,
  output: DaemonOutput,
  times?: Times,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const owned =
    config.store.kind === 'embedded'
      ? undefined
      : stack.use(await acquireDataDir(config.dataDir, { command: 'dirsyncd start' }))
  if (config.store.kind === 'embedded') output.announce(`Opening the store in ${config.dataDir}`)
  const site = stack.use(await openSite(config, 'dirsyncd start', log, times))
  if (owned?.died !== undefined) await freeLeasesOf(site.store.db, owned.died)
  await freeDeadLeases(site.store.db)
  await startOwnService(stack, config, site, output)
  const sources = openSources(config, site)
  const clients = openClients(stack, config, site)
  startChangeWorkers(stack, config.syncs, site, clients)

  const { db, leases } = site.store
  const executor = new Executor({
    db,
    leases,
    syncs: openSetups(config, site, { clients, sources }),
    owner: site.processName,
    isDead: site.isDead,
    log,
    signal,
    times: site.times,
    retention: retentionOf(config, site),
    onRunEnd: async (run) => {
      const view = await control.run(run)
      if (view) output.onRunEnd(view)
    },
  })
  const runs = openRunsQueue(site.backend)
  const control = createLocalControl({
    db,
    targets: new Map(config.syncs.map((sync) => [sync.name, targetOf(sync)])),
    wake: (sync) => wake(runs, sync),
  })
  const explain = createExplain(config, site, { sources, clients: () => clients })
  const checkHealth = async () => {
    await site.store.pool.query('select 1')
  }
  const diagnose = (request: DiagnosticsRequest) => diagnoseDaemon(site, request)
  const operations = { ...control, explain }
  await listenForAdmin(stack, config, { control: operations, checkHealth, diagnose }, output)
  const schedules = schedulesOf(config)
  await setSchedules(runs, schedules)
  await askForFirstRuns(config, site)
  const slots = 2 * Math.max(1, config.syncs.length)
  startRunsWorker(site.backend, slots, ({ sync, scheduled }) => executor.work(sync, { scheduled }))
  await watchSources(stack, config, site, (sync) => wake(runs, sync))
  lookForWork(stack, site, executor, signal)
  keepSchedules(stack, site, () => restoreSchedules(runs, schedules))
  log.info({ syncs: config.syncs.map((sync) => sync.name), process: site.processName }, 'daemon started')
  if (!signal.aborted) await once(signal, 'abort')
  log.info('daemon stops')
}

/** Runs the service in the daemon's process (`withDaemon`), and in its store when both use one data directory. */
async function startOwnService(
  stack: AsyncDisposableStack,
  config: Config,
  site: Site,
  output: DaemonOutput,
): Promise<void> {
  const { service } = config
  if (service?.withDaemon !== true) return
  const requestLog = openRequestLog(stack, service, site.log)
  const isShared =
    service.store.kind === 'embedded' &&
    config.store.kind === 'embedded' &&
    service.dataDir === config.dataDir
  const pool = isShared ? site.store.pool : await openServicePool(stack, service, 'dirsyncd start', site.log)
  const url = await startService(stack, service, { pool, log: site.log, requestLog })
  output.announce(`The access-management service listens on ${url}`)
}

/** Commands use a socket that only this user can open; the TCP listener offers only health and the status page. */
async function listenForAdmin(
  stack: AsyncDisposableStack,
  config: Config,
  options: Omit<AdminOptions, 'operations'>,
  output: DaemonOutput,
): Promise<void> {
  const socket = socketPath(config.dataDir)
  await rm(socket, { force: true })
  const commands = buildAdminApp({ ...options, operations: true })
  stack.defer(() => commands.close())
  await commands.listen({ path: socket })
  await chmod(socket, 0o600)
  const { listen: address } = config.admin
  if (address === undefined) return
  const pages = buildAdminApp({ ...options, operations: false })
  stack.defer(() => pages.close())
  output.announce(`The admin page is at ${await listen(pages, address)}`)
}

function schedulesOf(config: Config): ReadonlyMap<string, ReturnType<typeof repeatOptions>> {
  const schedules = new Map<string, ReturnType<typeof repeatOptions>>()
  for (const { name, schedule } of config.syncs) {
    if (schedule !== undefined) schedules.set(name, repeatOptions(schedule, name))
  }
  return schedules
}

/** A scheduled sync that has never run gets its first run at once. */
async function askForFirstRuns(config: Config, site: Site): Promise<void> {
  for (const sync of config.syncs) {
    if (sync.schedule === undefined) continue
    const target = targetOf(sync)
    if (await hasRuns(site.store.db, sync.name, target)) continue
    await addRun(site.store.db, { sync: sync.name, target, mode: 'sync', trigger: 'schedule' })
  }
}

/** Restores the schedules at intervals: an emptied queue has lost them, and no sync would run before the next start. */
function keepSchedules(stack: AsyncDisposableStack, site: Site, restore: () => Promise<void>): void {
  let restoring = false
  const timer = setInterval(() => {
    // `restore` waits without a limit while Redis is away.
    if (restoring) return
    restoring = true
    restore()
      .catch((error: unknown) => {
        if (!site.store.outage.explains(error)) {
          site.log.warn({ error: sentence(error) }, 'the schedules could not be checked')
        }
      })
      .finally(() => {
        restoring = false
      })
  }, site.times.daemon.restoreSchedules)
  stack.defer(() => clearInterval(timer))
}

/**
 * Looks in the store for waiting runs whose wake-up was lost, and for runs whose process is gone. In an embedded store
 * there are no other processes, and each look costs the only one its time.
 */
function lookForWork(stack: AsyncDisposableStack, site: Site, executor: Executor, signal: AbortSignal): void {
  const { outage } = site.store
  const working = new Set<Promise<void>>()
  let looking = false

  async function look(): Promise<void> {
    if (looking || signal.aborted) return
    looking = true
    try {
      const syncs = await syncsWithWork(site.store.db)
      outage.over()
      for (const sync of syncs) {
        const work = executor.work(sync, { scheduled: false }).catch((error: unknown) => {
          if (!outage.explains(error)) site.log.error({ sync, error: sentence(error) }, 'work ended')
        })
        working.add(work)
        void work.finally(() => working.delete(work))
      }
    } catch (error) {
      if (!outage.explains(error)) site.log.error({ error: sentence(error) }, 'cannot look for work')
    } finally {
      looking = false
    }
  }

  const { lookForWork: onServer } = site.times.daemon
  const timer = setInterval(() => void look(), site.store.kind === 'embedded' ? 30 * onServer : onServer)
  void look()
  stack.defer(async () => {
    clearInterval(timer)
    await Promise.all(working)
  })
}
