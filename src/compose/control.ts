import { setTimeout as sleep } from 'node:timers/promises'
import { socketPath } from '../base/socket/socket.ts'
import type { Config } from '../config/config.ts'
import type { Control } from '../operations/control.ts'
import type { WrittenSync } from '../operations/reload.ts'
import { changedKeys } from '../core/plan/configuration.ts'
import { keysText } from '../ui/messages/words.ts'
import { Executor } from '../sync/executor.ts'
import { createLocalControl } from '../operations/local.ts'
import { loggingDecisions } from '../operations/log-decisions.ts'
import { openRemoteControl } from '../operations/remote.ts'
import { DirsyncdError } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { type Times, TIMES } from '../queue/times.ts'
import { leaseHolder } from '../store/lease.ts'
import type { TableRights } from '../base/database/make-tables.ts'
import { isAway } from '../base/database/outage.ts'
import { ownerInWords, type OwnerInWords, ownerOf } from '../base/database/owner.ts'
import { describeProcess } from '../base/database/process-name.ts'
import { endRuns } from '../store/interruptions.ts'
import { cancelRun, findRun, withLease } from '../store/runs.ts'
import { createExplain } from './explain.ts'
import { openSite, retentionOf, type Site, targetOf } from './site.ts'
import { openSetup, openSyncParts, startChangeWorker, type SyncParts } from './sync-parts.ts'

export interface ControlOptions {
  /** This process, such as `dirsyncd sync`; processes that wait for it name it. */
  readonly command: string
  readonly signal: AbortSignal
  /** The command's rights on the tables without a daemon; default `create`. */
  readonly tables?: TableRights | undefined
  /** Called once when another process uses the embedded store: a command, or a daemon that is starting. */
  readonly onWait: (owner: OwnerInWords) => void
  /** Called with changes of the configuration file that the daemon has not loaded, such as `corp (users.filter)`. */
  readonly onUnread: (changes: readonly string[]) => void
}

function unreadBy(daemon: readonly WrittenSync[], { syncs }: Config): readonly string[] {
  const removed = daemon.filter(({ name }) => !syncs.some((sync) => sync.name === name))
  const others = syncs.flatMap(({ name, written }) => {
    const before = daemon.find((sync) => sync.name === name)?.written
    if (before === undefined) return [`${name} (new)`]
    const keys = changedKeys(before, written)
    return keys.length === 0 ? [] : [`${name} (${keysText(keys)})`]
  })
  return [...others, ...removed.map(({ name }) => `${name} (removed)`)]
}

/**
 * Connects to the daemon of this configuration. Without one, opens the stores and does its work for one command. A
 * starting daemon owns the stores before it listens, so this waits for it for a while, as for another command.
 */
export async function openControl(
  config: Config,
  log: Log,
  options: ControlOptions,
  times: Times = TIMES,
): Promise<Control> {
  const { signal, onWait, onUnread } = options
  const deadline = performance.now() + times.daemon.starting
  let isTold = false
  for (;;) {
    const remote = await openRemoteControl(socketPath(config.dataDir))
    if (remote !== undefined) {
      const unread = unreadBy(await remote.configuration(), config)
      if (unread.length > 0) onUnread(unread)
      return remote
    }
    try {
      return await openOwnControl(config, log, options, times)
    } catch (error) {
      const isOwned = error instanceof DirsyncdError && error.code === 'store-owned'
      if (!isOwned || performance.now() > deadline) throw error
    }
    signal.throwIfAborted()
    if (!isTold) {
      const owner = await ownerOf(config.dataDir)
      if (owner !== undefined) onWait(ownerInWords(owner))
      isTold = owner !== undefined
    }
    await sleep(200)
  }
}

async function openOwnControl(
  config: Config,
  log: Log,
  { command, tables }: ControlOptions,
  times?: Times,
): Promise<Control> {
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await openSite(config, command, log, { times, tables }))
  const owned = stack.move()
  const work = new OwnWork(owned, { config, site, log })
  const local = createLocalControl({
    db: site.store.db,
    targets: new Map(config.syncs.map((sync) => [sync.name, targetOf(sync)])),
    endInterrupted: async (sync) => {
      await using lease = await site.store.leases.take(sync, site.processName, site.times.lease)
      if (lease !== undefined)
        await withLease(site.store.db, lease, 0, (trx) => endRuns(trx, sync, 'interrupted'))
    },
    wake: async (sync, run) => work.begin(sync, run),
  })
  const control = loggingDecisions(local, log)
  return {
    ...control,
    explain: createExplain(site, work.openParts),
    run: (number, detail) => {
      work.throwIfFailed()
      return control.run(number, detail)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface OwnWorkParts {
  readonly config: Config
  readonly site: Site
  readonly log: Log
}

/**
 * The daemon's work in this process. Opens clients only when a command requests a run, and workers only when changes of
 * its own run are to be applied: before, the queue may have changes of a killed run that still has its lease.
 */
class OwnWork {
  readonly #stack: AsyncDisposableStack
  readonly #parts: OwnWorkParts
  readonly #stopping = new AbortController()
  readonly #working = new Map<string, Promise<void>>()
  readonly #asked: number[] = []
  #opened: ReadonlyMap<string, SyncParts> | undefined
  #executor: Executor | undefined
  #failure: unknown

  constructor(stack: AsyncDisposableStack, parts: OwnWorkParts) {
    this.#stack = stack
    this.#parts = parts
  }

  readonly openParts = (): ReadonlyMap<string, SyncParts> => {
    const { config, site } = this.#parts
    this.#opened ??= new Map(config.syncs.map((sync) => [sync.name, openSyncParts(this.#stack, sync, site)]))
    return this.#opened
  }

  /** Makes this run after those begun before. */
  begin(sync: string, run: number): void {
    this.#asked.push(run)
    this.#working.set(sync, this.#workAfter(this.#working.get(sync), sync, run))
  }

  /** Throws the error that ended the work, so that no caller waits for a run that never starts. */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw isAway(this.#failure) ? lostStore() : this.#failure
  }

  async #workAfter(before: Promise<void> | undefined, sync: string, run: number): Promise<void> {
    await before
    try {
      await this.#workUntilDone(sync, run)
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#failure = error
    }
  }

  /** Until the run has ended; retries while another process holds the lease. */
  async #workUntilDone(sync: string, run: number): Promise<void> {
    const { signal } = this.#stopping
    this.#executor ??= this.#prepare()
    let waits = false
    while (!signal.aborted) {
      const isMade = await this.#executor.workOn(sync, run)
      if ((await findRun(this.#parts.site.store.db, run))?.finished_at !== null) return
      if (isMade && !signal.aborted) throw lostStore()
      waits ||= await this.#sayWhoHolds(sync, run)
      await sleep(500, undefined, { signal })
    }
  }

  #prepare(): Executor {
    const { config, site, log } = this.#parts
    const stack = this.#stack
    const opened = this.openParts()
    const workers = stack.use(new AsyncDisposableStack())
    const withWorkers = new Set<string>()
    stack.defer(() => this.#end())
    return new Executor({
      db: site.store.db,
      leases: site.store.leases,
      syncs: new Map([...opened].map(([name, parts]) => [name, openSetup(stack, parts, site)])),
      owner: site.processName,
      isDead: site.isDead,
      log: executorLog(log),
      signal: this.#stopping.signal,
      times: site.times,
      retention: retentionOf(config, site),
      onApply: (name) => {
        const own = opened.get(name)
        if (own === undefined || withWorkers.has(name)) return
        withWorkers.add(name)
        startChangeWorker(workers, own, site)
      },
    })
  }

  async #end(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#working.values())
    for (const run of this.#asked) await cancelRun(this.#parts.site.store.db, run)
  }

  /** Resolves with false when the lease is free. */
  async #sayWhoHolds(sync: string, run: number): Promise<boolean> {
    const { site, log } = this.#parts
    const holder = await leaseHolder(site.store.db, sync)
    if (holder === undefined) return false
    const described = `process ${describeProcess(holder.owner)}`
    log.warn(
      { sync, run, holder: holder.run === undefined ? described : `run ${holder.run} of ${described}` },
      'waits for the dirsyncd process that holds the sync',
    )
    return true
  }
}

function lostStore(): DirsyncdError {
  const what = 'The store did not answer for too long, so the work on this run ended before its end'
  return new DirsyncdError('interrupted', `${what}; the next run goes on from what both sides say then.`)
}

/** The command prints the result of its run, so the executor logs only at the levels info and debug. */
function executorLog(log: Log): Log {
  return log.isLevelEnabled('info') ? log : log.child({}, { level: 'silent' })
}
