import { setTimeout as sleep } from 'node:timers/promises'
import { socketPath } from '../admin/socket.ts'
import type { Config } from '../config/config.ts'
import type { Control } from '../control/control.ts'
import { createExecutor } from '../control/executor.ts'
import { createLocalControl } from '../control/local.ts'
import { openRemoteControl } from '../control/remote.ts'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import { syncHasWaitingRun } from '../store/runs.ts'
import { openClients, openSetups, openSite, startChangeWorkers, targetOf } from './site.ts'

/** Reaches the daemon of this configuration, or, where none runs, opens the stores and does its work for one command. */
export async function openControl(config: Config, log: Log): Promise<Control> {
  return (await openRemoteControl(socketPath(config.dataDir))) ?? openOwnControl(config, log)
}

async function openOwnControl(config: Config, log: Log): Promise<Control> {
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await openSite(config, 'a dirsyncd command', log))
  const { db } = site.store
  const stopping = new AbortController()
  const working = new Map<string, Promise<void>>()
  let work: ((sync: string) => Promise<void>) | undefined

  /** Only a command that asks for a run needs clients and workers. */
  function prepare(): (sync: string) => Promise<void> {
    const clients = openClients(owned, config, site)
    startChangeWorkers(owned, config, site, clients)
    const executor = createExecutor({
      db,
      syncs: openSetups(config, site, clients),
      owner: site.processName,
      log: executorLog(log),
      signal: stopping.signal,
    })
    owned.defer(async () => {
      stopping.abort()
      await Promise.allSettled(working.values())
    })
    return (sync) => executor.work(sync, { scheduled: false })
  }

  /** Works, and while somebody else holds the lease waits until they have made the run, or until it is our turn. */
  async function workUntilDone(sync: string): Promise<void> {
    work ??= prepare()
    while (!stopping.signal.aborted && (await syncHasWaitingRun(db, sync))) {
      await work(sync)
      if (await syncHasWaitingRun(db, sync)) await sleep(500, undefined, { signal: stopping.signal })
    }
  }

  const owned = stack.move()
  const control = createLocalControl({
    db,
    targets: new Map(config.syncs.map((sync) => [sync.name, targetOf(sync)])),
    wake: async (sync) => {
      const before = working.get(sync) ?? Promise.resolve()
      const next = before
        .then(() => workUntilDone(sync))
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) log.error({ sync, error: sentence(error) }, 'work ended')
        })
      working.set(sync, next)
    },
  })
  return { ...control, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The command says itself how its run ended; only who asks for more than warnings gets it logged, too. */
function executorLog(log: Log): Log {
  return log.isLevelEnabled('info') ? log : log.child({}, { level: 'silent' })
}
