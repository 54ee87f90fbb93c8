import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'bullmq'
import type { Config, SyncConfig } from '../config/config.ts'
import { sentence } from '../base/errors.ts'
import { openRunsQueue, startRunsWorker, wake, type WakeJob } from '../queue/runs.ts'
import { endRuns } from '../store/interruptions.ts'
import { isAway } from '../base/database/outage.ts'
import { addRun, hasRuns, withLease } from '../store/runs.ts'
import { Executor } from '../sync/executor.ts'
import type { SyncSetup } from '../sync/session.ts'
import { countRuns } from './counting.ts'
import { OpenSyncs } from './open-syncs.ts'
import { Schedules } from './schedules.ts'
import { retentionOf, type Site, targetOf } from './site.ts'
import { openSetup, openSyncParts, startChangeWorker, type SyncParts } from './sync-parts.ts'
import { isWatched, requestRun, watchSource } from './watch-sources.ts'

export interface DaemonSyncsDeps {
  readonly config: Config
  readonly site: Site
  /** Aborted at shutdown. */
  readonly signal: AbortSignal
  readonly onRunEnd: (run: number) => Promise<void>
}

export class DaemonSyncs implements AsyncDisposable {
  readonly schedules: Schedules
  readonly targets = new Map<string, string>()
  readonly #deps: DaemonSyncsDeps
  #config: Config
  readonly #parts = new Map<string, SyncParts>()
  readonly #setups = new Map<string, SyncSetup>()
  readonly #executor: Executor
  readonly #opened = new OpenSyncs((sync) => this.#open(sync))
  readonly #underWay = new Map<string, Set<Promise<void>>>()
  readonly #runs: ReturnType<typeof openRunsQueue>
  #runsWorker: Worker<WakeJob> | undefined

  constructor(deps: DaemonSyncsDeps) {
    const { config, site, signal, onRunEnd } = deps
    this.#deps = deps
    this.#config = config
    this.#runs = openRunsQueue(site.backend)
    this.schedules = new Schedules(this.#runs)
    const retention = () => retentionOf(this.#config, site)
    this.#executor = new Executor({
      db: site.store.db,
      leases: site.store.leases,
      syncs: this.#setups,
      owner: site.processName,
      isDead: site.isDead,
      log: site.log,
      signal,
      times: site.times,
      get retention() {
        return retention()
      },
      onRunEnd,
      ...countRuns(site.metrics),
    })
  }

  get config(): Config {
    return this.#config
  }

  /** Changes may be applied from then on. */
  async open(): Promise<void> {
    await this.#opened.begin(this.#config.syncs)
  }

  /** Sets the schedules, requests first runs and starts the work on runs. */
  async start(): Promise<void> {
    const { syncs } = this.#config
    await this.schedules.begin(syncs)
    for (const sync of syncs) await this.#askForFirstRun(sync)
    this.#runsWorker = startRunsWorker(this.#deps.site.backend, slotsOf(syncs), (job) => this.work(job))
  }

  /** Loads another configuration. Syncs that are equal in both are not interrupted. */
  async change(config: Config): ReturnType<OpenSyncs['change']> {
    this.#config = config
    // Runs of a changed sync may be requested meanwhile: they are made when it is open again.
    const names = new Set(config.syncs.map(({ name }) => name))
    for (const name of this.targets.keys()) if (!names.has(name)) this.targets.delete(name)
    const changed = await this.#opened.change(config.syncs)
    const { added, changed: others, removed } = changed.changes
    if (this.#runsWorker) this.#runsWorker.concurrency = slotsOf(config.syncs)
    const touched = new Set([...added, ...others.map(({ sync }) => sync)])
    for (const sync of config.syncs) {
      if (!touched.has(sync.name)) continue
      // Another directory gets no run at once, because its number may be mistyped: the schedule or the operator starts
      // it.
      if (added.includes(sync.name)) await this.#attempt(sync.name, () => this.#askForFirstRun(sync))
      void this.#attempt(sync.name, () => this.work({ sync: sync.name, scheduled: false }))
    }
    for (const sync of removed) await this.#attempt(sync, () => this.#endRuns(sync))
    // During an outage of Redis, this takes until Redis is back.
    await Promise.race([
      this.schedules.change(config.syncs).catch(() => undefined),
      sleep(REDIS_MS, undefined, { ref: false }),
    ])
    return changed
  }

  /** Wakes a worker for the sync's waiting run. During an outage of Redis, the next poll of the store finds the run. */
  readonly wake = async (sync: string): Promise<void> => {
    const woken = wake(this.#runs, sync).catch((error: unknown) => {
      if (!isAway(error)) throw error
    })
    await Promise.race([woken, sleep(REDIS_MS, undefined, { ref: false })])
  }

  readonly partsFor = async (sync: string): Promise<ReadonlyMap<string, SyncParts>> => {
    await this.#opened.settled(sync)
    return this.#parts
  }

  /** Makes the waiting runs of a sync, after a pending change of its configuration. */
  readonly work = async ({ sync, scheduled }: WakeJob): Promise<void> => {
    await this.#opened.settled(sync)
    const work = this.#executor.work(sync, { scheduled })
    const all = this.#underWay.get(sync) ?? new Set()
    this.#underWay.set(sync, all.add(work))
    try {
      await work
    } finally {
      all.delete(work)
    }
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened[Symbol.asyncDispose]()
  }

  async #open(sync: SyncConfig): Promise<AsyncDisposable> {
    const { site } = this.#deps
    const { name } = sync
    await using stack = new AsyncDisposableStack()
    const parts = openSyncParts(stack, sync, site)
    const leaving = new AbortController()
    const setup = { ...openSetup(stack, parts, site), leaving: leaving.signal }
    stack.defer(async () => {
      const works: Iterable<Promise<void>> = this.#underWay.get(name) ?? []
      await Promise.allSettled(works)
    })
    startChangeWorker(stack, parts, site)
    await watchSource(stack, sync, site, this.wake)
    this.#setups.set(name, setup)
    this.targets.set(name, setup.target)
    this.#parts.set(name, parts)
    stack.defer(() => {
      this.#setups.delete(name)
      this.#parts.delete(name)
      leaving.abort()
    })
    return stack.move()
  }

  /** A scheduled sync that has never run gets its first run at once. */
  async #askForFirstRun(sync: SyncConfig): Promise<void> {
    const { site } = this.#deps
    const { db } = site.store
    if (sync.schedule === undefined) {
      // Without a schedule, a change of the files during a stop would go unnoticed.
      if (isWatched(sync)) await requestRun(sync, site, this.wake)
      return
    }
    const target = targetOf(sync)
    if (await hasRuns(db, sync.name, target)) return
    await addRun(db, { sync: sync.name, target, mode: 'sync', trigger: 'schedule' })
  }

  /** After an outage, the next poll of the store repeats the work. */
  async #attempt(sync: string, work: () => Promise<void>): Promise<void> {
    const { log, store } = this.#deps.site
    await work().catch((error: unknown) => {
      if (!store.outage.explains(error)) log.error({ sync, error: sentence(error) }, 'work ended')
    })
  }

  async #endRuns(sync: string): Promise<void> {
    const { store, processName, times } = this.#deps.site
    await using lease = await store.leases.take(sync, processName, times.lease)
    // Another daemon on the same store has the sync.
    if (lease === undefined) return
    await withLease(store.db, lease, 0, (trx) => endRuns(trx, sync, 'sync-removed'))
  }
}

/** In milliseconds; `Schedules.restore` and the next poll of the store do what Redis has not taken by then. */
const REDIS_MS = 5000

/** One for each sync, so that a long run blocks no other sync. */
function slotsOf(syncs: readonly SyncConfig[]): number {
  return 2 * Math.max(1, syncs.length)
}
