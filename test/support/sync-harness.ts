import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { AccessManagementClient } from '../../src/api/client/client.ts'
import type { DecisionRequest } from '../../src/operations/control.ts'
import { createLocalControl } from '../../src/operations/local.ts'
import { Executor, type ExecutorDeps } from '../../src/sync/executor.ts'
import type { SyncSetup } from '../../src/sync/session.ts'
import type { Sighting } from '../../src/core/entries/recheck.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { createLog } from '../../src/base/log/log.ts'
import type { Grace, GuardLimits } from '../../src/core/checks/check.ts'
import type { Options } from '../../src/core/plan/configuration.ts'
import type { DiffRules } from '../../src/core/diff/rules.ts'
import type { Part } from '../../src/core/plan/part/part.ts'
import { type Ticket, changesQueueName } from '../../src/sync/apply/job.ts'
import { ReadPause } from '../../src/sync/apply/read-pause.ts'
import { ChangeWorker } from '../../src/sync/apply/worker.ts'
import type { ReadOptions, Source } from '../../src/source/source.ts'
import { type ChangeRecord, changesWhere } from '../../src/store/change-list.ts'
import { exitCodeOf } from './exit-code.ts'
import { addRun, findRun, listRuns, type RunRecord, type NewRun } from '../../src/store/runs.ts'
import { lookBack } from '../../src/target/look-up.ts'
import { readDirectory } from '../../src/target/read-directory.ts'
import { createBatch } from '../../src/target/batch/create-batch.ts'
import { tryChange } from '../../src/target/try-change.ts'
import { forEachInSteps } from '../../src/base/steps.ts'
import { inTurns } from '../../src/base/turns.ts'
import type { OpenBackend } from './backends.ts'
import type { Company } from './company.ts'
import { QUICK } from './times.ts'

/** A company that a test may change between two runs. */
export interface MutableCompany {
  readonly users: Map<string, { name: string; email: string }>
  readonly groups: Map<string, { name: string; members: readonly string[] }>
}

export interface SyncHarnessOptions {
  /** The name of the sync; the name of the queue contains it, so it must be unique for each test. */
  readonly sync: string
  readonly service: {
    readonly baseUrl: string
    readonly organizationId: number
    readonly directoryId: number
  }
  /** Called before every request. */
  readonly token: () => string
  readonly company: MutableCompany
  /** Overrides of the default rules: policy `mirror`, members are written, all domains are allowed. */
  readonly rules?: Partial<DiffRules>
  /** The most deletes of users without an approval; 1 million by default. */
  readonly maxUserDeletes?: number
  readonly minSourceUsers?: number
  /** When an approval ends that no run used; after a week by default. */
  readonly approvalsExpireAfterMs?: number
  /** Default: nothing waits. */
  readonly grace?: Partial<Grace>
  /** What the configuration says, as far as it decides who is in; the same for each run by default. */
  readonly options?: Options
  /** Whether the sync's creates count as sent several in one request; by default not. */
  readonly inBatches?: boolean
  /** Whether a process has certainly died; none has by default. */
  readonly isDead?: () => boolean
  /** How long an outage lasts until the run gives up; 10 minutes by default. */
  readonly giveUpMs?: number
  /** Called before each read of the source. */
  readonly onRead?: (signal: AbortSignal, how: ReadOptions | undefined) => Promise<void>
  /** Changes what a read of the source shows. */
  readonly asRead?: (snapshot: SourceSnapshot) => SourceSnapshot
  /** What the second look at the source finds of each id; nothing by default. */
  readonly recheck?: (id: string) => Sighting
  /** Called before the first recheck of entries. */
  readonly onRecheck?: () => Promise<void>
  /** The most entries that one request creates; 1 by default. */
  readonly createBatch?: number
  /** Called after each read of the directory, before the planning. */
  readonly afterRead?: () => Promise<void>
  /** Instead of a read of the service. */
  readonly listed?: () => DirectorySnapshot
  /** Told of what happens, and when. */
  readonly told?: Pick<ExecutorDeps, 'onPhase' | 'onRunEnd'>
}

/** One sync in this process: a source in memory, an executor, and the workers that a test starts. */
export interface SyncHarness extends AsyncDisposable {
  readonly executor: Executor
  readonly parts: { readonly setup: SyncSetup; readonly log: ReturnType<typeof createLog> }
  /** Creates an executor that acts as another process for the same sync. */
  readonly otherExecutor: (owner: string) => Executor
  readonly startWorker: () => Promise<void>
  /** Requests a run and executes it to its end. */
  readonly sync: (more?: Partial<NewRun>) => Promise<RunRecord>
  /** Requests a run without executing it. Resolves with its number. */
  readonly requestRun: (more?: Partial<NewRun>) => Promise<number>
  /** Executes the runs that wait, and adds none as the schedule does. */
  readonly work: () => Promise<void>
  readonly getRun: (run: number) => Promise<RunRecord>
  readonly newestRun: () => Promise<RunRecord>
  readonly waitForEnd: (run: number) => Promise<RunRecord>
  /** What an operator's commands do to this sync. */
  readonly control: ReturnType<typeof createLocalControl>
  /** Approves what this run asked about, or a part of it, and executes what follows. Resolves with the newest run. */
  readonly approve: (run: number, more?: Partial<DecisionRequest>) => Promise<RunRecord>
  /** Undoes this run, or a part of it, also where that is held. Resolves with the run that did it. */
  readonly undo: (run: number, part?: Part) => Promise<RunRecord>
  /** What a command that waited for this run would exit with now. */
  readonly exitCode: (run: RunRecord | Promise<RunRecord>) => Promise<number>
  /** What a run blocks, each as `OP ID CODE…`. */
  readonly blocked: (run: RunRecord) => Promise<readonly string[]>
  /** The error codes in the log. */
  readonly codes: () => string[]
  /** The messages in the log, without their fields. */
  readonly messages: () => string[]
}

const NO_LIMIT = {
  maxDeletes: 1e6,
  maxDeletePercent: 100,
  maxDeletesPerDay: 1e6,
  maxUpdates: null,
  maxUpdatePercent: null,
}
export const NO_LIMITS: GuardLimits = {
  users: NO_LIMIT,
  groups: NO_LIMIT,
  memberships: NO_LIMIT,
  minSourceUsers: 0,
  maxSourceShrinkPercent: 100,
}

export function openSyncHarness(opened: OpenBackend, options: SyncHarnessOptions): SyncHarness {
  const { sync, service } = options
  const { db, leases } = opened.store
  const stack = new AsyncDisposableStack()
  const stopping = new AbortController()
  const lines: string[] = []
  const log = createLog('info', { destination: { write: (line: string) => void lines.push(line) } })
  const target = `${service.baseUrl}/directories/${service.directoryId}`
  const client = stack.use(
    new AccessManagementClient({
      baseUrl: service.baseUrl,
      organizationId: service.organizationId,
      token: async () => options.token(),
      deviceId: 'in-process',
      retries: { attempts: 1, minDelayMs: 20, maxDelayMs: 50 },
      pause: new ReadPause({ db, target, longestMs: QUICK.limited.longest, log }),
    }),
  )
  const read = { directoryId: service.directoryId, readConcurrency: 2 }
  const setup: SyncSetup = {
    name: sync,
    target,
    source: memorySource(options),
    readDirectory: async (signal, _table, membership) => {
      const snapshot = options.listed?.() ?? (await readDirectory(client, { ...read, membership }, signal))
      await options.afterRead?.()
      return snapshot
    },
    rules: { policy: 'mirror', membership: 'write', allowedDomains: [], ...options.rules },
    limits: {
      ...NO_LIMITS,
      minSourceUsers: options.minSourceUsers ?? NO_LIMITS.minSourceUsers,
      users: { ...NO_LIMITS.users, maxDeletes: options.maxUserDeletes ?? NO_LIMITS.users.maxDeletes },
    },
    approvalsExpireAfterMs: options.approvalsExpireAfterMs ?? 7 * 86_400_000,
    grace: { deleteAfter: {}, confirmAfterMs: 0, hidesServers: false, ...options.grace },
    options: options.options ?? {},
    queue: opened.backend.createQueue<Ticket>(changesQueueName(sync)),
    verification: {
      lookBack: (change, signal) => lookBack(client, service.directoryId, change, signal),
      inBatches: options.inBatches ?? (options.createBatch ?? 1) > 1,
    },
  }
  const otherExecutor = (owner: string) =>
    new Executor({
      db,
      leases,
      syncs: new Map([[sync, setup]]),
      owner,
      isDead: options.isDead ?? (() => false),
      log,
      signal: stopping.signal,
      ...options.told,
      times: { ...QUICK, outage: { ...QUICK.outage, giveUp: options.giveUpMs ?? QUICK.outage.giveUp } },
    })
  const executor = otherExecutor(`${sync}-process`)

  async function startWorker(): Promise<void> {
    const targetDirectory = { directoryId: service.directoryId }
    const worker = new ChangeWorker({
      db,
      backend: opened.backend,
      sync,
      target,
      name: `${sync}-worker`,
      concurrency: 4,
      senders: {
        batchSize: options.createBatch ?? 1,
        applyChange: (change, how, signal) => tryChange(client, targetDirectory, change, how, signal),
        createBatch: (changes, how, signal) => createBatch(client, targetDirectory, changes, how, signal),
      },
      signal: stopping.signal,
      log,
      times: QUICK,
    })
    stack.defer(() => worker.close())
    await worker.waitUntilReady()
  }

  const requestRun = (more?: Partial<NewRun>) =>
    addRun(db, { sync, target, mode: 'sync', trigger: 'demand', ...more })

  async function getRun(number: number): Promise<RunRecord> {
    const record = await findRun(db, number)
    if (record === undefined) throw new Error(`no run ${number}`)
    return record
  }

  async function waitForEnd(number: number): Promise<RunRecord> {
    for (;;) {
      const record = await getRun(number)
      if (record.finished_at !== null) return record
      await sleep(20)
    }
  }

  const work = () => executor.work(sync, { scheduled: false })

  return {
    executor,
    parts: { setup, log },
    otherExecutor,
    startWorker,
    requestRun,
    work,
    getRun,
    waitForEnd,
    ...commandsOn(db, { sync, target }, { work, getRun }),
    sync: async (more) => {
      const number = await requestRun(more)
      await work()
      return getRun(number)
    },
    codes: () => lines.map((line) => JSON.parse(line).code).filter((code) => code !== undefined),
    messages: () => lines.map((line) => JSON.parse(line).msg),
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await stack.disposeAsync()
    },
  }
}

/** What an operator does with commands, and the runs that follow. */
function commandsOn(
  db: OpenBackend['store']['db'],
  { sync, target }: Pick<RunRecord, 'sync' | 'target'>,
  { work, getRun }: Pick<SyncHarness, 'work' | 'getRun'>,
): Pick<SyncHarness, 'newestRun' | 'control' | 'approve' | 'undo' | 'exitCode' | 'blocked'> {
  const targets = new Map([[sync, target]])
  const control = createLocalControl({ db, targets, wake: async () => undefined })

  async function newestRun(): Promise<RunRecord> {
    const [newest] = await listRuns(db, { sync, limit: 1 })
    return getRun(newest!.run)
  }

  async function approve(run: number, more?: Partial<DecisionRequest>): Promise<RunRecord> {
    await control.approve({ run, by: 'ana', isAll: true, ...more })
    await work()
    return newestRun()
  }

  async function undo(run: number, part: Part = {}): Promise<RunRecord> {
    const number = await control.undo({ run, part, mode: 'sync', by: 'ana' })
    await work()
    const undone = await getRun(number)
    return undone.state === 'held' ? approve(number) : undone
  }

  return {
    newestRun,
    control,
    approve,
    undo,
    exitCode: (run) => exitCodeOf(db, run),
    blocked: async (run) => (await changesWhere(db, run, sql`c.state = 'blocked'`)).map(blockedText),
  }
}

function blockedText({ change: { op, id }, reasons }: ChangeRecord): string {
  return [op, id, ...reasons.map(({ code }) => code)].join(' ')
}

/** Reads the company anew each time. */
function memorySource({
  company,
  onRead,
  asRead,
  recheck = () => 'absent',
  onRecheck,
}: SyncHarnessOptions): Source {
  return {
    read: async (signal, how) => {
      await onRead?.(signal, how)
      signal.throwIfAborted()
      const snapshot = snapshotOf(company)
      return asRead === undefined ? snapshot : asRead(snapshot)
    },
    readIds: async (_kind, ids) => {
      await onRecheck?.()
      const found = new Map<string, { readonly state: Sighting }>()
      await inTurns(forEachInSteps(ids, (id) => found.set(id, { state: recheck(id) })))
      return found
    },
    probe: async () => [],
    find: () => Promise.reject(new Error('nobody is looked for in memory')),
  }
}

function snapshotOf({ users, groups }: Company): SourceSnapshot {
  return {
    users: new Map(
      [...users].map(([id, { name, email }]) => [
        id,
        { id, name, email, employeeId: undefined, from: `memory, ${id}` },
      ]),
    ),
    groups: new Map(
      [...groups].map(([id, group]) => [
        id,
        { id, name: group.name, members: group.members.toSorted(), from: `memory, ${id}` },
      ]),
    ),
    seen: { user: new Set(users.keys()), group: new Set(groups.keys()) },
    covers: { groups: true, members: true },
    unreadable: 0,
    notices: [],
  }
}
