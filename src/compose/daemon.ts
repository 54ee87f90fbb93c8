import { once } from 'node:events'
import type { Watching } from '../ui/http/watching.ts'
import type { Config } from '../config/config.ts'
import type { RunView } from '../operations/control.ts'
import type { Redaction } from '../operations/bundle/redact.ts'
import { createBrowse } from '../operations/browse.ts'
import { createLocalControl, explainingOutage, type LocalControl } from '../operations/local.ts'
import { loggingDecisions } from '../operations/log-decisions.ts'
import { sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { Metrics } from '../ui/metrics/metrics.ts'
import { freeDeadLeases } from '../store/lease.ts'
import { acquireDataDir, DAEMON } from '../base/database/owner.ts'
import { whoElseMayReplace } from '../base/database/ownership.ts'
import type { Times } from '../queue/times.ts'
import { syncsWithWork } from '../store/runs.ts'
import { onHangup } from '../base/process/shutdown.ts'
import { listenForAdmin, metricsText } from './admin.ts'
import { DaemonFigures } from './daemon-figures.ts'
import { diagnoseDaemon } from './diagnose.ts'
import { createExplain } from './explain.ts'
import { createOverview } from './overview.ts'
import { Notifier } from './notifier.ts'
import { ReadyLook } from './ready-look.ts'
import { whyDaemonIsNotReady } from './readiness.ts'
import { openSite, type Site } from './site.ts'
import { programVersion } from '../base/process/version.ts'
import { DaemonSyncs } from './daemon-syncs.ts'
import { Reloader, stopping } from './reloader.ts'

export interface DaemonOutput {
  readonly announce: (line: string) => void
  /** The operator at the terminal; undefined where the output is no terminal. */
  readonly operator: string | undefined
  readonly onRunEnd: (run: RunView) => void
  readonly onReady: () => void
}

/**
 * Schedules, workers and admin pages in one process, until the signal. `readAgain` reads and checks the configuration
 * file, for SIGHUP and `dirsyncd reload`.
 */
export async function runDaemon(
  config: Config,
  log: Log,
  signal: AbortSignal,
  output: DaemonOutput,
  readAgain: () => Promise<Config>,
  times?: Times,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const ready = takeHangups(stack)
  const metrics = new Metrics(programVersion())
  const open = () => openSite(config, DAEMON, log, { times, metrics, tables: 'upgrade' })
  const site = await openOwnSite(stack, config, open, output)

  const configuration = () => syncs.config
  const notifier = stack.use(new Notifier(site, config.notifications, configuration, signal))
  const syncs = stack.use(
    new DaemonSyncs({
      config,
      site,
      signal,
      onRunEnd: async (run) => {
        notifier.look()
        const view = await control.run(run)
        if (view) output.onRunEnd(view)
      },
    }),
  )
  await syncs.open()
  const local = createLocalControl({ db: site.store.db, targets: syncs.targets, wake: syncs.wake })
  const control = loggingDecisions(local, log)
  const watching = watchingOf(site, metrics, syncs)
  const change = (read: Config) => syncs.change(read)
  const reloader = new Reloader({ started: config, readAgain, change, log, signal })
  const reload = async () => (await ready.promise).reload()
  const explain = createExplain(site, syncs.partsFor)
  const diagnose = explainingOutage((redaction: Redaction) => diagnoseDaemon(site, redaction))
  const operations = {
    ...tellingDecisions(control, notifier.look),
    explain,
    configuration: async () => syncs.config.syncs.map(({ name, written }) => ({ name, written })),
  }
  const overview = createOverview(site, configuration)
  const browse = createBrowse(site.store.db, syncs.targets)
  const admin = { control: operations, browse, overview, watching, diagnose, reload }
  await listenForAdmin(stack, config, admin, { log, ...output })
  stack.defer(() => ready.reject(stopping()))
  await syncs.start()
  notifier.start()
  stack.defer(() => reloader.settled())
  lookForWork(stack, site, syncs.work, signal)
  keepSchedules(stack, site, () => syncs.schedules.restore())
  log.info({ syncs: config.syncs.map((sync) => sync.name), process: site.processName }, 'daemon started')
  ready.resolve(reloader)
  output.onReady()
  if (!signal.aborted) await once(signal, 'abort')
  log.info('daemon stops')
}

/** Owns the data directory, and releases what dead processes held. */
async function openOwnSite(
  stack: AsyncDisposableStack,
  config: Config,
  open: () => Promise<Site>,
  output: DaemonOutput,
): Promise<Site> {
  const isEmbedded = config.store.kind === 'embedded'
  const owned = isEmbedded ? undefined : stack.use(await acquireDataDir(config.dataDir, { command: DAEMON }))
  if (isEmbedded) output.announce(`Opening the store in ${config.dataDir}`)
  const site = stack.use(await open())
  const others = await whoElseMayReplace(config.dataDir)
  if (others !== undefined) site.log.warn({ dataDir: config.dataDir }, others)
  await freeDeadLeases(site.store.db, owned?.died)
  return site
}

function watchingOf(site: Site, metrics: Metrics, syncs: DaemonSyncs): Watching {
  const startedAt = new Date()
  const figures = new DaemonFigures(site, metrics, () => syncs.config)
  return {
    whyNotReady: new ReadyLook(() => whyDaemonIsNotReady(site, syncs.config, startedAt), site.log).why,
    metrics: metricsText(metrics, () => figures.read()),
  }
}

function tellingDecisions(control: LocalControl, look: () => void): LocalControl {
  const telling =
    <A, R>(operation: (asked: A) => Promise<R>) =>
    async (asked: A): Promise<R> => {
      const answer = await operation(asked)
      look()
      return answer
    }
  return { ...control, approve: telling(control.approve), reject: telling(control.reject) }
}

/** An early SIGHUP is served when everything is open; without a handler, it would end the process. */
function takeHangups(stack: AsyncDisposableStack): PromiseWithResolvers<Reloader> {
  const ready = Promise.withResolvers<Reloader>()
  const reload = async () => {
    const reloader = await ready.promise.catch(() => undefined)
    reloader?.reloadInBackground()
  }
  ready.promise.catch(() => undefined)
  stack.use(onHangup(() => void reload()))
  return ready
}

/** An emptied queue has lost its schedules, and no sync would run before the next start. */
function keepSchedules(stack: AsyncDisposableStack, site: Site, restore: () => Promise<void>): void {
  let restoring = false
  const timer = setInterval(() => {
    // `restore` waits without a limit during an outage of Redis.
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
 * Polls the store for waiting runs whose wake-up was lost, and for runs of dead processes. An embedded store has no
 * other processes, and each poll would cost its only connection time.
 */
function lookForWork(
  stack: AsyncDisposableStack,
  site: Site,
  workOn: DaemonSyncs['work'],
  signal: AbortSignal,
): void {
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
        const work = workOn({ sync, scheduled: false }).catch((error: unknown) => {
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
