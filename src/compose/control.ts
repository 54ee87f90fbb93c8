import { setTimeout as sleep } from 'node:timers/promises'
import { socketPath } from '../admin/socket.ts'
import type { Config } from '../config/config.ts'
import type { Control } from '../control/control.ts'
import { createExecutor, type Executor } from '../control/executor.ts'
import { createLocalControl } from '../control/local.ts'
import { openRemoteControl } from '../control/remote.ts'
import { DirsyncdError } from '../errors.ts'
import type { Log } from '../log.ts'
import { type Times, TIMES } from '../queue/times.ts'
import { nextWaitingRun, syncsWithWork } from '../store/runs.ts'
import {
  openClients,
  openSetups,
  openSite,
  openSources,
  type Site,
  type Sources,
  startChangeWorkers,
  targetOf,
} from './site.ts'

/**
 * Connects to the daemon of this configuration. When none runs, opens the stores and does its work for one command. A
 * daemon that is starting owns the stores before it listens, so this waits for it for a while.
 */
export async function openControl(config: Config, log: Log, times: Times = TIMES): Promise<Control> {
  const deadline = performance.now() + times.daemon.starting
  for (;;) {
    const remote = await openRemoteControl(socketPath(config.dataDir))
    if (remote !== undefined) return remote
    try {
      return await openOwnControl(config, log, times)
    } catch (error) {
      const isOwned = error instanceof DirsyncdError && error.code === 'store-owned'
      if (!isOwned || performance.now() > deadline) throw error
      await sleep(200)
    }
  }
}

async function openOwnControl(config: Config, log: Log, times?: Times): Promise<Control> {
  const sources = openSources(config, log)
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await openSite(config, 'a dirsyncd command', log, times))
  const owned = stack.move()
  const work = createOwnWork(owned, { config, site, sources, log })
  const control = createLocalControl({
    db: site.store.db,
    targets: new Map(config.syncs.map((sync) => [sync.name, targetOf(sync)])),
    wake: async (sync, mode) => work.begin(sync, { plansOnly: mode === 'plan' }),
  })
  return {
    ...control,
    run: (number, detail) => {
      work.throwIfFailed()
      return control.run(number, detail)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface OwnWork {
  /** Starts the waiting runs of this sync, or only the plans among them, after the work that was begun before. */
  begin(sync: string, options: { readonly plansOnly: boolean }): void
  /** Throws the error that ended the work, so that no caller waits for a run that never starts. */
  throwIfFailed(): void
}

/** Does a daemon's work in this process. Opens clients and workers only when a command requests a run. */
function createOwnWork(
  stack: AsyncDisposableStack,
  parts: { config: Config; site: Site; sources: Sources; log: Log },
): OwnWork {
  const { config, site, sources, log } = parts
  const stopping = new AbortController()
  const { signal } = stopping
  const working = new Map<string, Promise<void>>()
  let executor: Executor | undefined
  let failure: unknown

  function prepare(): Executor {
    const clients = openClients(stack, config, site)
    startChangeWorkers(stack, config, site, clients)
    stack.defer(async () => {
      stopping.abort()
      await Promise.all(working.values())
    })
    return createExecutor({
      db: site.store.db,
      syncs: openSetups(config, site, { clients, sources }),
      owner: site.processName,
      log: executorLog(log),
      signal,
      times: site.times,
    })
  }

  /** Works until no run is left, and tries again while another process holds the lease. */
  async function workUntilDone(sync: string, plansOnly: boolean): Promise<void> {
    executor ??= prepare()
    while (!signal.aborted && (await hasWork(sync, plansOnly))) {
      await executor.work(sync, { scheduled: false, plansOnly })
      if (await hasWork(sync, plansOnly)) await sleep(500, undefined, { signal })
    }
  }

  async function hasWork(sync: string, plansOnly: boolean): Promise<boolean> {
    const { db } = site.store
    if ((await nextWaitingRun(db, sync, plansOnly ? 'plan' : undefined)) !== undefined) return true
    return !plansOnly && (await syncsWithWork(db, site.times.lease.expiry)).includes(sync)
  }

  async function workAfter(
    before: Promise<void> | undefined,
    sync: string,
    plansOnly: boolean,
  ): Promise<void> {
    await before
    try {
      await workUntilDone(sync, plansOnly)
    } catch (error) {
      if (!signal.aborted) failure = error
    }
  }

  return {
    begin: (sync, { plansOnly }) => void working.set(sync, workAfter(working.get(sync), sync, plansOnly)),
    throwIfFailed: () => {
      if (failure !== undefined) throw failure
    },
  }
}

/** The command prints how its run ended, so the executor logs only at the levels info and debug. */
function executorLog(log: Log): Log {
  return log.isLevelEnabled('info') ? log : log.child({}, { level: 'silent' })
}
