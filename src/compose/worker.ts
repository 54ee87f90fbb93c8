import { once } from 'node:events'
import type { Config, SyncConfig } from '../config/config.ts'
import { DirsyncdError } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import type { Times } from '../queue/times.ts'
import { Metrics } from '../ui/metrics/metrics.ts'
import { onHangup } from '../base/process/shutdown.ts'
import { listenForWorker, metricsText } from './admin.ts'
import { OpenSyncs } from './open-syncs.ts'
import { Reloader } from './reloader.ts'
import { ReadyLook } from './ready-look.ts'
import { whyStoreIsAway, whyStoresAreAway } from './readiness.ts'
import { openSite } from './site.ts'
import { openSyncClient, startChangeWorker } from './sync-parts.ts'
import { programVersion } from '../base/process/version.ts'

/** Applies changes beside the daemon until the signal; SIGHUP reloads the configuration. */
export async function runWorker(
  config: Config,
  log: Log,
  signal: AbortSignal,
  { readAgain, onReady }: { readonly readAgain: () => Promise<Config>; readonly onReady: () => void },
  times?: Times,
): Promise<void> {
  if (config.store.kind === 'embedded') {
    throw new DirsyncdError(
      'config-invalid',
      'A worker needs a store that it can share with the daemon, and an embedded store belongs to one process: set `store` to a postgres:// URL.',
    )
  }
  await using stack = new AsyncDisposableStack()
  const metrics = new Metrics(programVersion())
  const site = stack.use(await openSite(config, 'dirsyncd worker', log, { times, metrics }))
  const open = async (sync: SyncConfig): Promise<AsyncDisposable> => {
    const parts = new AsyncDisposableStack()
    startChangeWorker(parts, { sync, client: openSyncClient(parts, sync, site) }, site)
    return parts
  }
  const syncs = stack.use(new OpenSyncs(open))
  await syncs.begin(config.syncs)
  const change = (read: Config) => syncs.change(read.syncs)
  const reloader = new Reloader({ started: config, readAgain, change, log, signal })
  stack.use(onHangup(() => reloader.reloadInBackground()))
  const watching = {
    whyNotReady: new ReadyLook(() => whyStoresAreAway(site), log).why,
    metrics: metricsText(metrics, async () => {
      const why = await whyStoreIsAway(site)
      metrics.set('dirsyncd_store_up', { store: site.store.kind }, why === undefined ? 1 : 0)
    }),
  }
  const url = await listenForWorker(stack, config, watching, log)
  log.info({ syncs: config.syncs.map(({ name }) => name), process: site.processName, url }, 'worker started')
  onReady()
  if (!signal.aborted) await once(signal, 'abort')
  log.info('worker stops')
  await reloader.settled()
}
