import { setTimeout as sleep } from 'node:timers/promises'
import { AccessManagementClient } from '../../src/client/client.ts'
import { createExecutor, type Executor, type SyncSetup } from '../../src/control/executor.ts'
import type { SourceSnapshot } from '../../src/directory/snapshot.ts'
import { createLog } from '../../src/log.ts'
import type { GuardLimits } from '../../src/plan/guards.ts'
import type { PlanRules } from '../../src/plan/inputs.ts'
import { type ChangeJob, changesQueueName } from '../../src/queue/changes.ts'
import { startChangeWorker } from '../../src/queue/worker.ts'
import type { Source } from '../../src/source/source.ts'
import { addRun, findRun, type RunRecord } from '../../src/store/runs.ts'
import { readDirectory } from '../../src/target/read-directory.ts'
import { tryChange } from '../../src/target/try-change.ts'
import type { OpenBackend } from './backends.ts'
import type { Company } from './company.ts'
import { QUICK } from './times.ts'

/** A company that a test may change between two runs. */
export interface MutableCompany {
  readonly users: Map<string, { name: string; email: string }>
  readonly groups: Map<string, { name: string; members: readonly string[] }>
}

export interface WorldOptions {
  /** Also the name of the queue: one for each test. */
  readonly sync: string
  readonly service: {
    readonly baseUrl: string
    readonly organizationId: number
    readonly directoryId: number
  }
  /** Asked before every request. */
  readonly token: () => string
  readonly company: MutableCompany
  /** Other rules than the usual ones: mirror, members written, every domain. */
  readonly rules?: Partial<PlanRules>
  /** Called when the source is read. */
  readonly onRead?: (signal: AbortSignal) => Promise<void>
  /** Called when the directory was read, before anything is planned. */
  readonly afterRead?: () => Promise<void>
}

/** One sync in this process: a source in memory, an executor, and a worker when a test starts one. */
export interface World extends AsyncDisposable {
  readonly executor: Executor
  /** Another process that works on the same sync. */
  readonly otherExecutor: (owner: string) => Executor
  readonly startWorker: () => Promise<void>
  /** Asks for a run and works until it has ended. */
  readonly sync: () => Promise<RunRecord>
  /** Asks for a run and leaves it to others. */
  readonly ask: () => Promise<number>
  readonly run: (run: number) => Promise<RunRecord>
  readonly ended: (run: number) => Promise<RunRecord>
  /** The error codes that were logged for failed runs. */
  readonly codes: () => string[]
  /** Everything that was logged, without its fields. */
  readonly messages: () => string[]
}

const NO_LIMIT = {
  maxDeletes: 1e6,
  maxDeletePercent: 100,
  maxDeletesPerDay: 1e6,
  maxUpdates: null,
  maxUpdatePercent: null,
}
const LIMITS: GuardLimits = {
  users: NO_LIMIT,
  groups: NO_LIMIT,
  memberships: NO_LIMIT,
  minSourceUsers: 0,
  maxSourceShrinkPercent: 100,
}

export function openWorld(opened: OpenBackend, options: WorldOptions): World {
  const { sync, service } = options
  const { db } = opened.store
  const stack = new AsyncDisposableStack()
  const stopping = new AbortController()
  const lines: string[] = []
  const log = createLog('info', { destination: { write: (line: string) => void lines.push(line) } })
  const client = stack.use(
    new AccessManagementClient({
      baseUrl: service.baseUrl,
      organizationId: service.organizationId,
      token: async () => options.token(),
      deviceId: 'in-process',
      retries: { attempts: 1, minDelayMs: 20, maxDelayMs: 50 },
    }),
  )
  const target = `${service.baseUrl}/directories/${service.directoryId}`
  const read = { directoryId: service.directoryId, readConcurrency: 2, membership: 'write' } as const
  const setup: SyncSetup = {
    name: sync,
    target,
    source: memorySource(options),
    readDirectory: async (signal) => {
      const snapshot = await readDirectory(client, read, signal)
      await options.afterRead?.()
      return snapshot
    },
    rules: { policy: 'mirror', membership: 'write', allowedDomains: [], ...options.rules },
    limits: LIMITS,
    queue: opened.backend.createQueue<ChangeJob>(changesQueueName(sync)),
  }
  const otherExecutor = (owner: string) =>
    createExecutor({
      db,
      syncs: new Map([[sync, setup]]),
      owner,
      log,
      signal: stopping.signal,
      times: QUICK,
    })
  const executor = otherExecutor(`${sync}-process`)

  async function startWorker(): Promise<void> {
    const targetDirectory = { directoryId: service.directoryId }
    const worker = startChangeWorker({
      db,
      backend: opened.backend,
      sync,
      name: `${sync}-worker`,
      concurrency: 4,
      applyChange: (change, how, signal) => tryChange(client, targetDirectory, change, how, signal),
      signal: stopping.signal,
      log,
      times: QUICK,
    })
    stack.defer(() => worker.close())
    await worker.waitUntilReady()
  }

  const ask = () => addRun(db, { sync, target, mode: 'sync', trigger: 'demand' })

  async function run(number: number): Promise<RunRecord> {
    const record = await findRun(db, number)
    if (record === undefined) throw new Error(`no run ${number}`)
    return record
  }

  async function ended(number: number): Promise<RunRecord> {
    for (;;) {
      const record = await run(number)
      if (record.finished_at !== null) return record
      await sleep(20)
    }
  }

  return {
    executor,
    otherExecutor,
    startWorker,
    ask,
    run,
    ended,
    sync: async () => {
      const number = await ask()
      await executor.work(sync, { scheduled: false })
      return run(number)
    },
    codes: () => lines.map((line) => JSON.parse(line).code).filter((code) => code !== undefined),
    messages: () => lines.map((line) => JSON.parse(line).msg),
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await stack.disposeAsync()
    },
  }
}

/** Looks at the company again each time; who is not in it is gone. */
function memorySource({ company, onRead }: WorldOptions): Source {
  return {
    read: async (signal) => {
      await onRead?.(signal)
      signal.throwIfAborted()
      return snapshotOf(company)
    },
    lookAgain: async (_kind, ids) => new Map(ids.map((id) => [id, 'gone'] as const)),
    probe: async () => [],
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
