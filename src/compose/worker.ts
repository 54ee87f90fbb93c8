import { once } from 'node:events'
import type { Config } from '../config/config.ts'
import { DirsyncdError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Times } from '../queue/times.ts'
import { openClients, openSite, startChangeWorkers } from './site.ts'

/** Applies changes beside the daemon, until the signal. */
export async function runWorker(config: Config, log: Log, signal: AbortSignal, times?: Times): Promise<void> {
  if (config.store.kind === 'embedded') {
    throw new DirsyncdError(
      'config-invalid',
      'A worker needs a store that it can share with the daemon, and an embedded store belongs to one process: set `store` to a postgres:// URL.',
    )
  }
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await openSite(config, 'dirsyncd worker', log, times))
  const clients = openClients(stack, config, site)
  startChangeWorkers(stack, config.syncs, site, clients)
  log.info({ syncs: config.syncs.map((sync) => sync.name), process: site.processName }, 'worker started')
  if (!signal.aborted) await once(signal, 'abort')
  log.info('worker stops')
}
