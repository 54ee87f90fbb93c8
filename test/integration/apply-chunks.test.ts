import { hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { applyChunk } from '../../src/sync/apply/chunk.ts'
import type { VerificationDeps } from '../../src/sync/apply/verification.ts'
import { type Chunk, claim, closeChunksOfEndedRuns, openChunks, reclaim } from '../../src/sync/apply/claim.ts'
import { applyRun, Dispatcher } from '../../src/sync/apply/apply-loop.ts'
import { Freshness } from '../../src/sync/apply/freshness.ts'
import { changesQueueName, type Ticket } from '../../src/sync/apply/job.ts'
import { notTried, FailureCounters } from '../../src/sync/apply/judge.ts'
import { type Findings, flush, Reclaimed, type Settled } from '../../src/sync/apply/outcomes.ts'
import { RunInProcess } from '../../src/sync/apply/run-in-process.ts'
import type { Senders } from '../../src/sync/apply/senders.ts'
import { Throttle } from '../../src/sync/apply/throttle.ts'
import { allowRemovals, enterStage, markFirst } from '../../src/sync/apply/stage.ts'
import { TIMES } from '../../src/queue/times.ts'
import { firstSent, lastVerdict, storeVerdict } from '../../src/store/verifications.ts'
import { pauseFor, pauseOf } from '../../src/store/pause.ts'
import { ChangeWorker } from '../../src/sync/apply/worker.ts'
import { createLog } from '../../src/base/log/log.ts'
import type { Create } from '../../src/core/plan/batches.ts'
import type { Change, Takes } from '../../src/core/plan/change.ts'
import type { Outcome, SharedOutcome } from '../../src/core/plan/outcome.ts'
import type { Phase, PlannedChange } from '../../src/core/plan/changes.ts'
import { FencedRun, Overtaken } from '../../src/store/fenced-run.ts'
import { deletedLastDay } from '../../src/store/journal.ts'
import type { Lease } from '../../src/store/lease.ts'
import { interruptRuns } from '../../src/store/interruptions.ts'
import { changesOf } from '../../src/store/change-list.ts'
import { storePlan } from '../../src/store/plans.ts'
import {
  addRun,
  beginRun,
  findRun,
  finishRun,
  outcomesSoFar,
  setRunState,
  stopRun,
  withLease,
} from '../../src/store/runs.ts'
import type { Tables } from '../../src/store/tables.ts'
import { Executor } from '../../src/sync/executor.ts'
import type { SyncSetup } from '../../src/sync/session.ts'
import { backendNamed, type OpenBackend } from '../support/backends.ts'
import { NO_LIMITS } from '../support/sync-harness.ts'
import { QUICK } from '../support/times.ts'
import { countsOf } from '../unit/ui/cli/runs-for-tests.ts'

let opened: OpenBackend
let db: Kysely<Tables>
let stack: AsyncDisposableStack
let sync: string
let target: string
let lease: Lease
let tests = 0

beforeAll(async () => {
  opened = await backendNamed('postgres').open()
  db = opened.store.db
})
afterAll(() => opened?.close())
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  sync = `chunks-${(tests += 1)}`
  target = `https://access.example.com/directories/${tests}`
  lease = stack.use((await opened.store.leases.take(sync, 'a test', QUICK.lease))!)
})
afterEach(() => stack.disposeAsync())

function planned(change: Change, phase: Phase, removes = 0): PlannedChange {
  return { change, phase, fingerprint: `${change.op} ${change.id}`, removes }
}

const create = (id: string) => planned({ op: 'create-user', id, want: { name: id } }, 'users')

function remove(id: string): PlannedChange {
  return planned(
    { op: 'delete-user', id, have: { name: id, email: null, groups: [] }, why: 'gone' },
    'delete-users',
    1,
  )
}

function setMembers(id: string, have: readonly string[], want: readonly string[]): PlannedChange {
  return planned({ op: 'set-members', id, name: id, have, want }, 'members', 0)
}

function rename(id: string, phase: Phase, takes?: Takes): PlannedChange {
  const values = { have: { name: id, email: null }, want: { email: `new-${id}@example.org` } }
  return planned({ op: 'update-user', id, ...values, ...(takes !== undefined && { takes }) }, phase)
}

/** Begins a run with this plan, whose changes may be claimed. */
async function begin(changes: readonly PlannedChange[], approved: string[] = []): Promise<FencedRun> {
  const run = await addRun(db, { sync, target, mode: 'sync', trigger: 'demand' })
  await beginRun(db, lease, run, target)
  const fenced = new FencedRun(db, { run, epoch: lease.epoch })
  const rows = changes.map((change) =>
    approved.includes(change.fingerprint) ? { planned: change, approvedBy: 'ana' } : { planned: change },
  )
  await storePlan(fenced, rows, rows.length)
  await fenced.write((trx) => setRunState(trx, run, 'applying'))
  return fenced
}

interface Claiming {
  readonly most?: number
  readonly phase?: Phase
  readonly worker?: string
}

async function claimNext(fenced: FencedRun, most: number, worker = 'a worker'): Promise<Chunk | undefined> {
  const chunk = await claim(fenced, { most }, { worker, target, leaseMs: QUICK.lease.expiry })
  return chunk === 'other-target' ? undefined : chunk
}

/** Claims from the beginning of a stage. */
async function claimOf(
  fenced: FencedRun,
  { most = 100, phase = 'users', worker }: Claiming = {},
): Promise<Chunk | undefined> {
  await enter(fenced, phase)
  return claimNext(fenced, most, worker)
}

function enter(fenced: FencedRun, phase: Phase): Promise<number> {
  return fenced.write((trx) => enterStage(trx, fenced.run, { phase, retry: false }, QUICK.fence.removals))
}

const numbers = (chunk: Chunk | undefined) => chunk?.changes.map(({ number }) => number)

/** The end of a chunk of which each change has this state. */
function endOf({ id, changes }: Chunk, state: Settled['state'], findings: Findings = {}) {
  return {
    chunk: id,
    worker: 'a worker',
    retry: false,
    settled: changes.map((change) => ({ ...notTried(change), attempts: change.attempts, state })),
    findings,
    isLast: true,
    times: { ...TIMES, outage: { ...TIMES.outage, firstProbe: 1000 } },
  }
}

async function states({ run }: FencedRun) {
  const query = db.selectFrom('dirsyncd.changes').select(['state', 'unsure']).where('run', '=', run)
  return (await query.orderBy('number').execute()).map(({ state, unsure }) =>
    unsure ? `${state}, unsure` : state,
  )
}

async function journal({ run }: FencedRun) {
  const { rows } = await sql<{ entry: string; outcome: string }>`SELECT entry_id AS entry, outcome
    FROM dirsyncd.journal WHERE run = ${run} ORDER BY number`.execute(db)
  return rows.map(({ entry, outcome }) => `${entry} ${outcome}`)
}

/** Sends every change alone. */
function sendersOf(applyChange: Senders['applyChange']): Senders {
  return { applyChange, createBatch: refuseBatches, batchSize: 1 }
}

function refuseBatches(): never {
  throw new Error('no batch may be sent')
}

/** Sends a chunk as a worker does. */
function send(
  fenced: FencedRun,
  chunk: Chunk,
  senders: Senders | Senders['applyChange'],
  {
    freshness = new Freshness(60_000),
    removals = new Freshness(QUICK.fence.removals),
    throttle = new Throttle(1),
    counters = new FailureCounters(),
  } = {},
) {
  return applyChunk({
    fenced,
    chunk,
    freshness,
    removals,
    worker: 'a worker',
    senders: typeof senders === 'function' ? sendersOf(senders) : senders,
    throttle,
    counters,
    run: new RunInProcess(),
    onPause: () => undefined,
    onOutcome: () => undefined,
    quarantined: async () => new Set(),
    stopping: new AbortController().signal,
    signal: new AbortController().signal,
    times: QUICK,
    log: createLog('silent'),
  })
}

/** For runs of which nothing is read back, nor rechecked. */
const NO_VERIFICATION: Pick<VerificationDeps, 'lookBack' | 'inBatches' | 'onNotices' | 'log'> & {
  readonly recheck: () => Promise<void>
  readonly recheckedAt: number
} = {
  recheck: async () => undefined,
  recheckedAt: 0,
  lookBack: async () => {
    throw new Error('nothing is to be read back')
  },
  inBatches: false,
  onNotices: () => undefined,
  log: createLog('silent'),
}

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
  return rows[0]!.count
}

/** As another process does that takes the lease. */
async function takeOver(): Promise<void> {
  await sql`UPDATE dirsyncd.leases SET epoch = epoch + 1 WHERE sync = ${sync}`.execute(db)
}

const APPLIED = { result: 'applied', status: 200, requests: 1 } as const

test('the digest of a plan covers every change, in order', async () => {
  const digests: string[] = []
  for (const ids of [['a'], ['a', 'b'], ['b', 'a'], ['a', 'b', 'c'], [], ['a', 'b']]) {
    const run = await addRun(db, { sync, target, mode: 'sync', trigger: 'demand' })
    await beginRun(db, lease, run, target)
    const fenced = new FencedRun(db, { run, epoch: lease.epoch })
    const rows = ids.map((id) => ({ planned: create(id) }))
    digests.push(await storePlan(fenced, rows, rows.length))
    await fenced.write((trx) => finishRun(trx, run, { state: 'done' }))
  }
  expect(new Set(digests).size).toBe(5)
  expect(digests[1]).toBe(hash('sha256', create('a').fingerprint + create('b').fingerprint))
  expect(digests.at(-1)).toBe(digests[1])
})

describe('what is written of a run', () => {
  test('is written by nobody whose lease is an older one', async () => {
    const { run, epoch } = await begin([create('a')])
    await takeOver()
    const write = new FencedRun(db, { run, epoch }).write((trx) => stopRun(trx, run, 'internal', 'no'))
    await expect(write).rejects.toThrow(Overtaken)
  })

  test('is written by nobody who did not begin it', async () => {
    const { run, epoch } = await begin([create('a')])
    const write = new FencedRun(db, { run, epoch: epoch + 1 }).write(async () => 'written')
    await expect(write).rejects.toThrow(Overtaken)
  })

  test('is written by nobody after its end', async () => {
    const fenced = await begin([create('a'), create('b')])
    const chunk = (await claimOf(fenced, { most: 1 }))!
    await fenced.write((trx) => finishRun(trx, fenced.run, { state: 'failed' }))
    await expect(claimOf(fenced)).rejects.toThrow(Overtaken)
    await expect(flush(fenced, endOf(chunk, 'applied'))).rejects.toThrow(Overtaken)
    expect(await states(fenced)).toEqual(['pending', 'pending'])
  })
})

describe('write verification', () => {
  const stage = { phase: 'users', retry: false, verifies: 'create-user' } as const
  const mark = (fenced: FencedRun) => fenced.write((trx) => markFirst(trx, fenced.run, stage, 20))

  test('is 20 changes, and gets no more of them while some of it wait', async () => {
    const fenced = await begin(Array.from({ length: 50 }, (_, index) => create(`u${index}`)))
    expect(await mark(fenced)).toBe(20)
    const chunk = (await claimOf(fenced, { most: 15 }))!
    expect(await mark(fenced)).toBe(20)
    await flush(fenced, endOf(chunk, 'applied'))
    expect(await mark(fenced)).toBe(5)
    await flush(fenced, endOf((await claimOf(fenced, { most: 5 }))!, 'applied'))
    expect(await firstSent(db, fenced.run, 'create-user')).toHaveLength(20)
    expect(await mark(fenced)).toBe(20)
  })

  test('passes for no run whose lease is an older one', async () => {
    const fenced = await begin([create('a')])
    const kind = { op: 'create-user', inBatches: false } as const
    await takeOver()
    const store = fenced.write((trx, run) => storeVerdict(trx, { ...run, run: fenced.run }, kind, 'passed'))
    await expect(store).rejects.toThrow(Overtaken)
    expect(await lastVerdict(db, { sync, target }, kind)).toBeUndefined()
  })
})

describe('a claim', () => {
  test('takes no change that another chunk has', async () => {
    const fenced = await begin([create('a'), create('b'), create('c')])
    expect(numbers(await claimOf(fenced, { most: 2 }))).toEqual([1, 2])
    expect(numbers(await claimOf(fenced))).toEqual([3])
    expect(await claimOf(fenced)).toBeUndefined()
  })

  test('takes nothing under a lease that has expired', async () => {
    const fenced = await begin([create('a')])
    await sql`UPDATE dirsyncd.leases SET renewed_at = now() - interval '1 hour' WHERE sync = ${sync}`.execute(
      db,
    )
    expect(await claimOf(fenced)).toBeUndefined()
  })

  test('takes nothing where somebody takes the lease, which was free, while it looks', async () => {
    const fenced = await begin([create('a')])
    await sql`UPDATE dirsyncd.leases SET renewed_at = NULL WHERE sync = ${sync}`.execute(db)
    await enter(fenced, 'users')
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const other = db.transaction().execute(async (trx) => {
      await sql`SELECT FROM dirsyncd.runs WHERE run = ${fenced.run} FOR UPDATE`.execute(trx)
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const claiming = claimNext(fenced, 100)
    await expect.poll(waitingForLocks).toBe(1)
    await sql`UPDATE dirsyncd.leases SET epoch = epoch + 1, renewed_at = now() WHERE sync = ${sync}`.execute(
      db,
    )
    held.resolve()
    await other
    expect(await claiming).toBeUndefined()
  })

  test('takes nothing while the target is to be left alone', async () => {
    const fenced = await begin([create('a')])
    await pauseFor(db, target, 60_000)
    expect(await claimOf(fenced)).toBeUndefined()
    await sql`UPDATE dirsyncd.targets SET not_before = now() WHERE target = ${target}`.execute(db)
    expect(numbers(await claimOf(fenced))).toEqual([1])
  })

  test.each([
    ['a minute', '1 minute', undefined],
    ['what the clock of the database, which was set back since, calls a day', '1 day', [1]],
  ] as const)('a change that waits for %s', async (_, wait, expected) => {
    const fenced = await begin([create('a')])
    await sql`UPDATE dirsyncd.changes SET next_at = now() + ${wait}::interval WHERE run = ${fenced.run}`.execute(
      db,
    )
    const chunk = await claimOf(fenced)
    expect(chunk && numbers(chunk)).toEqual(expected)
  })

  test('takes one change alone after an outage, until the target has answered', async () => {
    const fenced = await begin([create('a'), create('b'), create('c')])
    await sql`INSERT INTO dirsyncd.targets (target, not_before, why, outages)
      VALUES (${target}, now(), 'outage', 1)`.execute(db)
    const probe = (await claimOf(fenced))!
    expect(numbers(probe)).toEqual([1])
    expect(await claimOf(fenced)).toBeUndefined()
    await flush(fenced, endOf(probe, 'applied', { answers: true }))
    expect(numbers(await claimOf(fenced))).toEqual([2, 3])
  })

  test.each([
    ['applied', [2]],
    ['found', [2]],
    ['missing', [2]],
    ['pending', [1]],
    ['quarantined', [2], 'not-made'],
    ['failed', [2], 'not-made'],
  ] as const)(
    'when the owner of an e-mail is %s, of owner and taker may take %j',
    async (state, expected, unmet?: string) => {
      const fenced = await begin([
        rename('a', 'take-emails', { from: 'x', after: 1 }),
        rename('b', 'take-emails', { from: 'a', after: 2 }),
      ])
      const owner = (await claimOf(fenced, { phase: 'take-emails' }))!
      expect(numbers(owner)).toEqual([1])
      await flush(fenced, endOf(owner, state))
      const next = await claimOf(fenced, { phase: 'take-emails' })
      expect(numbers(next)).toEqual(expected)
      expect(next?.changes[0]?.unmet).toBe(unmet)
    },
  )

  test('takes everybody of a circle of e-mails', async () => {
    const fenced = await begin([
      rename('a', 'take-emails', { from: 'b', after: null }),
      rename('b', 'take-emails', { from: 'a', after: null }),
    ])
    expect(numbers(await claimOf(fenced, { phase: 'take-emails' }))).toEqual([1, 2])
  })
})

async function dispatcherOf(fenced: FencedRun) {
  const queue = opened.backend.createQueue<Ticket>(changesQueueName(sync))
  const dispatcher = new Dispatcher({ db, queue, fenced }, { phase: 'users', retry: false })
  await enter(fenced, 'users')
  return { dispatcher, queue, waiting: () => queue.getJobCountByTypes('waiting') }
}

describe('tickets', () => {
  test('are as many as the changes that are due need, and a lost one is replaced', async () => {
    const fenced = await begin(['a', 'b', 'c'].map(create))
    const { dispatcher, queue, waiting } = await dispatcherOf(fenced)
    const seen: number[] = []
    for (let look = 0; look < 2; look++) {
      await dispatcher.topUp(3, Number.POSITIVE_INFINITY)
      seen.push(await waiting())
    }
    await queue.drain()
    await dispatcher.topUp(3, Number.POSITIVE_INFINITY)
    expect([...seen, await waiting()]).toEqual([3, 3, 3])
  })

  test('take the changes in their order, and those that were given back after the others', async () => {
    const fenced = await begin(['a', 'b', 'c'].map(create))
    const { dispatcher } = await dispatcherOf(fenced)
    const take = (most: number) => claimNext(fenced, most)
    const first = (await take(1))!
    await flush(fenced, endOf(first, 'pending'))
    expect(numbers(await take(2))).toEqual([2, 3])
    expect(await take(2)).toBeUndefined()
    await dispatcher.topUp(3, Number.POSITIVE_INFINITY)
    expect(numbers(await take(2))).toEqual([1])
  })
})

test('two chunks that meet the same outage make one pause of it', async () => {
  const fenced = await begin([create('a'), create('b')])
  const chunks = [(await claimOf(fenced, { most: 1 }))!, (await claimOf(fenced))!]
  for (const chunk of chunks) await flush(fenced, endOf(chunk, 'pending', { pause: { why: 'outage' } }))
  const pause = await pauseOf(db, target)
  expect(pause?.leftMs).toBeLessThan(1000)
  await sql`UPDATE dirsyncd.targets SET not_before = now() WHERE target = ${target}`.execute(db)
  const probe = (await claimOf(fenced))!
  expect(probe.outages).toBe(1)
  await flush(fenced, endOf(probe, 'pending', { pause: { why: 'outage' } }))
  expect((await pauseOf(db, target))?.leftMs).toBeGreaterThan(1000)
})

test('nothing more is sent of any chunk in flight once the service asked for a pause', async () => {
  const fenced = await begin(['a', 'b', 'c', 'd', 'e', 'f'].map(create))
  const chunks = [(await claimOf(fenced, { most: 3 }))!, (await claimOf(fenced))!]
  const throttle = new Throttle(2)
  const sent: string[] = []
  const limited: Senders['applyChange'] = async ({ id }) => {
    sent.push(id)
    return { result: 'rate-limited', retryAfterMs: 60_000 }
  }
  await Promise.all(chunks.map((chunk) => send(fenced, chunk, limited, { throttle })))
  expect(sent).toEqual(['a', 'b'])
  expect(throttle.limit.concurrency).toBe(1)
  expect((await states(fenced)).join()).toBe(Array(6).fill('pending').join())
})

test('20 refusals in a row stop the run, and a success between them counts them anew', async () => {
  const fenced = await begin(Array.from({ length: 41 }, (_, index) => create(`u${index}`)))
  const chunk = (await claimOf(fenced))!
  const settled = chunk.changes.map((change, index): Settled =>
    index === 19
      ? { ...notTried(change), state: 'applied' }
      : { ...notTried(change), isRefusal: true, detail: 'It says no.' },
  )
  const group = { ...endOf(chunk, 'pending'), isLast: false }
  expect(await flush(fenced, { ...group, settled: settled.slice(0, 39) })).toMatchObject({
    isStopped: false,
    refusedInRow: 19,
  })
  expect(await flush(fenced, { ...group, settled: settled.slice(39) })).toMatchObject({ isStopped: true })
  expect(await findRun(db, fenced.run)).toMatchObject({
    stop_code: 'scope-missing',
    stop_reason: expect.stringMatching(/refused 21 changes in a row with 403 .* It says no\./),
  })
})

describe('a chunk whose worker was taken for dead', () => {
  test('writes no outcome any more, and its changes are looked up before they are sent', async () => {
    const fenced = await begin([create('a')])
    const dead = (await claimOf(fenced))!
    await fenced.write((trx) => reclaim(trx, fenced.run, dead.id))
    await expect(flush(fenced, endOf(dead, 'failed'))).rejects.toThrow(Reclaimed)
    expect(await states(fenced)).toEqual(['pending, unsure'])
    expect(await journal(fenced)).toEqual([])
    const looks: boolean[] = []
    await send(fenced, (await claimOf(fenced))!, async (_, { check }) => {
      looks.push(check)
      return APPLIED
    })
    expect(looks).toEqual([true])
    expect(await journal(fenced)).toEqual(['a applied'])
  })
})

test.each([
  [
    'a chunk that was taken for dead',
    (fenced: FencedRun, { id }: Chunk) => fenced.write((trx) => reclaim(trx, fenced.run, id)),
  ],
  ['a run that another process took over', takeOver],
])('%s sends nothing more', async (_, take) => {
  const fenced = await begin([create('a'), create('b')])
  const chunk = (await claimOf(fenced))!
  const sent: string[] = []
  const sending = send(fenced, chunk, async ({ id }, _how, signal) => {
    sent.push(id)
    if (id === 'a') await take(fenced, chunk)
    const ended = AbortSignal.any([signal, AbortSignal.timeout(3 * QUICK.fence.look)])
    await new Promise((done) => ended.addEventListener('abort', done, { once: true }))
    throw ended.reason
  })
  await expect(sending).resolves.toBeUndefined()
  expect(sent).toEqual(['a'])
})

test('outcomes of which nobody heard that they were written are journaled and counted once', async () => {
  const fenced = await begin([create('a'), create('b')])
  const chunk = (await claimOf(fenced))!
  const group = { ...endOf({ ...chunk, changes: chunk.changes.slice(0, 1) }, 'applied'), isLast: false }
  await flush(fenced, group)
  await flush(fenced, group)
  await flush(fenced, endOf({ ...chunk, changes: chunk.changes.slice(1) }, 'applied'))
  expect(await journal(fenced)).toEqual(['a applied', 'b applied'])
  expect(await outcomesSoFar(db, fenced.run)).toEqual({ applied: 2 })
})

test('what a run that ended had under way is journaled as unknown, and the next plan has it looked up', async () => {
  const fenced = await begin([create('a'), create('b'), remove('c')])
  await claimOf(fenced, { most: 1 })
  await claimOf(fenced, { phase: 'delete-users' })
  await fenced.write((trx) => finishRun(trx, fenced.run, { state: 'failed' }))
  await closeChunksOfEndedRuns(db, sync)
  expect(await openChunks(db, fenced.run)).toEqual([])
  expect(await journal(fenced)).toEqual(['a unknown', 'c unknown'])
  const next = await begin([create('b'), create('a'), create('c')])
  expect(await states(next)).toEqual(['pending', 'pending, unsure', 'pending, unsure'])
})

test('an interrupted run says what it applied, what was under way and what it did not come to', async () => {
  const fenced = await begin([create('a'), create('b'), create('c'), create('d')])
  const { run } = fenced
  await fenced.write((trx) => setRunState(trx, run, 'applying', { counts: countsOf({}) }))
  await flush(fenced, endOf((await claimOf(fenced, { most: 1 }))!, 'applied'))
  await claimOf(fenced, { most: 2 })
  const next = () => addRun(db, { sync, target, mode: 'sync', trigger: 'schedule' })
  await withLease(db, lease, run, (trx) => interruptRuns(trx, sync, next))
  const shown = async () => (await changesOf(db, (await findRun(db, run))!, 10)).map(({ state }) => state)
  expect(await findRun(db, run)).toMatchObject({
    state: 'failed',
    counts: { outcomes: { applied: 1, unknown: 2, dropped: 1 } },
    error: expect.stringContaining('ended, or did not reach the store for too long; a new run'),
  })
  expect(await shown()).toEqual(['applied', 'unknown', 'unknown', 'dropped'])
  await closeChunksOfEndedRuns(db, sync)
  expect(await shown()).toEqual(['applied', 'unknown', 'unknown', 'dropped'])
})

test.each([
  ['a dead worker', ['dead'], 100],
  ['a worker that may live', ['dead', 'alive'], 400],
] as const)('the next run reads when nothing that %s sent can be under way', async (_, workers, waitMs) => {
  const fenced = await begin(workers.map((worker) => create(worker)))
  for (const worker of workers) await claimOf(fenced, { most: 1, worker })
  await fenced.write((trx) => finishRun(trx, fenced.run, { state: 'failed' }))
  await lease[Symbol.asyncDispose]()
  const began = performance.now()
  const { readAt, open } = await readNext()
  expect(readAt - began).toBeGreaterThanOrEqual(waitMs)
  expect(open).toEqual([])

  /** Makes a run that ends when it reads, and tells when that was and which chunks were open then. */
  async function readNext() {
    let seen = { readAt: 0, open: await openChunks(db, fenced.run) }
    const read = async () => {
      seen = { readAt: performance.now(), open: await openChunks(db, fenced.run) }
      throw new Error('read enough')
    }
    const setup: SyncSetup = {
      name: sync,
      target,
      source: { read, find: read, readIds: async () => new Map(), probe: async () => [] },
      readDirectory: read,
      rules: { policy: 'mirror', membership: 'write', allowedDomains: [] },
      limits: NO_LIMITS,
      approvalsExpireAfterMs: 1e9,
      grace: { deleteAfter: {}, confirmAfterMs: 0, hidesServers: false },
      options: {},
      queue: opened.backend.createQueue<Ticket>(changesQueueName(sync)),
      verification: NO_VERIFICATION,
    }
    const executor = new Executor({
      db,
      leases: opened.store.leases,
      syncs: new Map([[sync, setup]]),
      owner: 'a test',
      isDead: (worker) => worker === 'dead',
      log: createLog('silent'),
      signal: new AbortController().signal,
      times: { ...QUICK, fence: { ...QUICK.fence, settle: 400, settleDead: 100 } },
    })
    await executor.work(sync, { scheduled: true })
    return seen
  }
})

test('what a run that goes on has under way stays', async () => {
  const fenced = await begin([create('a')])
  await claimOf(fenced)
  await closeChunksOfEndedRuns(db, sync)
  expect(await openChunks(db, fenced.run)).toHaveLength(1)
})

test('an approved update does not take the deletes of its run out of the budget of the day', async () => {
  const changes = [rename('a', 'users'), remove('b'), remove('c')]
  const fenced = await begin(changes, ['update-user a', 'delete-user c'])
  for (const phase of ['users', 'delete-users'] as const)
    await flush(fenced, endOf((await claimOf(fenced, { phase }))!, 'applied'))
  expect(await deletedLastDay(db, { sync, target })).toMatchObject({ users: 1 })
})

describe('when the store does not answer', () => {
  /** A run whose writes fail as long as `isAway`. */
  class AwayRun extends FencedRun {
    isAway = true
    tries = 0

    override async write<T>(...work: Parameters<FencedRun['write']>): Promise<T> {
      this.tries += 1
      if (this.isAway) throw new Error('Connection terminated unexpectedly')
      return (await super.write(...work)) as T
    }
  }

  test('nothing more is sent', async () => {
    const fenced = await begin([create('a'), create('b')])
    const chunk = (await claimOf(fenced))!
    const sent: string[] = []
    const freshness = new Freshness(60_000, { monotonic: performance.now() - 60_000, wall: Date.now() })
    await send(fenced, chunk, async ({ id }) => (sent.push(id), APPLIED), { freshness })
    expect(sent).toEqual([])
    expect(await states(fenced)).toEqual(['pending', 'pending'])
  })

  test('a request that would be repeated is not', async () => {
    const fenced = await begin([create('a'), create('b')])
    const chunk = (await claimOf(fenced))!
    const asked = { monotonic: performance.now(), wall: Date.now() }
    const freshness = new Freshness(60_000, asked)
    const sent: string[] = []
    await send(
      fenced,
      chunk,
      async ({ id }, { beforeRequest }) => {
        sent.push(id)
        asked.wall -= 60_000
        beforeRequest?.()
        return APPLIED
      },
      { freshness },
    )
    expect(sent).toEqual(['a'])
    expect(await states(fenced)).toEqual(['pending, unsure', 'pending'])
  })

  test('outcomes are kept until it does', async () => {
    const { run, epoch } = await begin([create('a'), create('b')])
    const away = new AwayRun(db, { run, epoch })
    away.isAway = false
    const chunk = (await claimOf(away))!
    away.isAway = true
    const sending = send(away, chunk, async () => APPLIED)
    await expect.poll(() => away.tries).toBeGreaterThan(2)
    away.isAway = false
    await sending
    expect(await journal(away)).toEqual(['a applied', 'b applied'])
  })
})

test('no worker claims a delete, or a list that takes a member out, without a recheck', async () => {
  const lists = [setMembers('g', ['a', 'b'], ['a', 'c']), setMembers('h', ['a'], ['a', 'b'])]
  const fenced = await begin([...lists, remove('b')])
  await enter(fenced, 'members')
  await fenced.write((trx) => allowRemovals(trx, fenced.run, 0))
  const first = { phase: 'members', retry: false, verifies: 'set-members' } as const
  expect(await fenced.write((trx) => markFirst(trx, fenced.run, first, 20))).toBe(2)
  expect((await claimNext(fenced, 9))?.changes.map(({ change: { id } }) => id)).toEqual(['h'])
  await enter(fenced, 'delete-users')
  expect(await claimNext(fenced, 9)).toBeUndefined()
  await fenced.write((trx) => allowRemovals(trx, fenced.run, 1000))
  expect((await claimNext(fenced, 9))?.changes.map(({ change: { id } }) => id)).toEqual(['b'])
})

test('a delete that was claimed long ago waits for another recheck', async () => {
  const fenced = await begin([rename('a', 'delete-users'), remove('b')])
  const chunk = (await claimOf(fenced, { phase: 'delete-users' }))!
  const sent: string[] = []
  const applyChange: Senders['applyChange'] = async ({ id }) => (sent.push(id), APPLIED)
  await send(fenced, chunk, applyChange, { removals: new Freshness(0) })
  expect(sent).toEqual(['a'])
  expect(await states(fenced)).toEqual(['applied', 'pending'])
})

test('the client retries a delete only while its recheck is new', async () => {
  const fenced = await begin([remove('a'), remove('b')])
  const chunk = (await claimOf(fenced, { phase: 'delete-users' }))!
  const sent: string[] = []
  const removals = new Freshness(QUICK.fence.removals)
  vi.spyOn(removals, 'isFresh').mockImplementation(() => sent.length < 3)
  const applyChange: Senders['applyChange'] = async ({ id }, { beforeRequest }) => {
    for (const each of id === 'a' ? ['a'] : ['b', 'b', 'b']) {
      beforeRequest?.()
      sent.push(each)
    }
    return APPLIED
  }
  await send(fenced, chunk, applyChange, { removals })
  expect(sent).toEqual(['a', 'b', 'b'])
  expect(await states(fenced)).toEqual(['applied', 'pending, unsure'])
})

test('a run that a worker stopped ends when nothing of it is under way any more', async () => {
  const fenced = await begin([create('a')])
  const chunk = (await claimOf(fenced))!
  await fenced.write((trx) => stopRun(trx, fenced.run, 'token-refused', 'the token is refused'))
  const queue = opened.backend.createQueue<Ticket>(changesQueueName(sync))
  const deps = { db, queue, fenced, target, isDead: () => false, ...NO_VERIFICATION, times: QUICK }
  const journaled = applyRun(deps, new AbortController().signal).catch(async () => journal(fenced))
  await Promise.race([journaled, new Promise((done) => setTimeout(done, 200))])
  await flush(fenced, endOf(chunk, 'applied'))
  expect(await journaled).toEqual(['a applied'])
})

test('an error of writing outcomes stops the run with it', async () => {
  const fenced = await begin([create('a'), create('b')])
  await sql`ALTER TABLE dirsyncd.changes ADD CONSTRAINT no_299 CHECK (status <> 299) NOT VALID`.execute(db)
  stack.defer(async () => void (await sql`ALTER TABLE dirsyncd.changes DROP CONSTRAINT no_299`.execute(db)))
  const worker = new ChangeWorker({
    db,
    backend: opened.backend,
    sync,
    target,
    name: 'a worker',
    concurrency: 1,
    senders: sendersOf(async () => ({ ...APPLIED, status: 299 })),
    signal: new AbortController().signal,
    log: createLog('silent'),
    times: QUICK,
  })
  stack.defer(() => worker.close())
  const queue = opened.backend.createQueue<Ticket>(changesQueueName(sync))
  const times = { ...QUICK, fence: { ...QUICK.fence, settle: 100 } }
  const deps = { db, queue, fenced, target, isDead: () => false, ...NO_VERIFICATION, times }
  await expect(applyRun(deps, new AbortController().signal)).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('no_299'),
  })
})

test('a worker sends nothing of a plan that was made for another directory, and leaves it to others', async () => {
  const fenced = await begin([remove('a'), remove('b')])
  const sentBy = new Map<string, string[]>()
  const lines: string[] = []
  const startWorker = async (name: string, itsTarget: string) => {
    const sent: string[] = []
    sentBy.set(name, sent)
    const worker = new ChangeWorker({
      db,
      backend: opened.backend,
      sync,
      target: itsTarget,
      name,
      concurrency: 1,
      senders: sendersOf(async ({ id }) => (sent.push(id), APPLIED)),
      signal: new AbortController().signal,
      log: createLog('info', { destination: { write: (line: string) => void lines.push(line) } }),
      times: QUICK,
    })
    stack.defer(() => worker.close())
    await worker.waitUntilReady()
  }
  await startWorker('older configuration', 'https://access.example.com/directories/999')
  const queue = opened.backend.createQueue<Ticket>(changesQueueName(sync))
  const deps = { db, queue, fenced, target, isDead: () => false, ...NO_VERIFICATION, times: QUICK }
  const drained = applyRun(deps, new AbortController().signal)
  await expect.poll(() => lines.length).toBe(1)
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'warn', run: fenced.run, sync })
  expect(await states(fenced)).toEqual(['pending', 'pending'])

  await startWorker('same configuration', target)
  await drained
  expect(sentBy.get('older configuration')).toEqual([])
  expect(sentBy.get('same configuration')?.toSorted()).toEqual(['a', 'b'])
  const told = lines.map((line) => JSON.parse(line))
  expect(told.filter(({ level }) => level === 'warn')).toHaveLength(1)
  const outcomes = told.filter(({ level }) => level === 'info')
  expect(
    outcomes.map(({ change, id, op, outcome, msg }) => [change, id, op, outcome, msg]).toSorted(),
  ).toEqual([
    [1, 'a', 'delete-user', 'applied', 'a change has its outcome'],
    [2, 'b', 'delete-user', 'applied', 'a change has its outcome'],
  ])
  expect(outcomes.map(({ run }) => run)).toEqual([fenced.run, fenced.run])
})

function shared(ids: readonly string[], outcome: Outcome | undefined): SharedOutcome {
  return { changes: ids.map((id) => create(id).change as Create), outcome }
}

/** Batches end as `settle` says; what goes alone is applied. */
function batchesTo(settle: Senders['createBatch'], batchSize = 4) {
  const sent: string[] = []
  const note = (ids: readonly string[], check: boolean) => {
    sent.push(ids.join(' ') + (check ? ', looked up' : ''))
  }
  const senders: Senders = {
    batchSize,
    createBatch: (changes, how, signal) => {
      note(
        changes.map(({ id }) => id),
        how.check,
      )
      return settle(changes, how, signal)
    },
    applyChange: async ({ id }, { check }) => (note([id], check), APPLIED),
  }
  return { sent, senders }
}

async function* applied(changes: readonly Create[]): AsyncGenerator<SharedOutcome> {
  for (const { id } of changes) yield shared([id], APPLIED)
}

describe('creates that are sent together', () => {
  const FOUR = ['a', 'b', 'c', 'd']
  test('reach the journal one by one', async () => {
    const fenced = await begin(FOUR.map(create))
    const { sent, senders } = batchesTo(applied, 3)
    await send(fenced, (await claimOf(fenced))!, senders)
    expect(sent).toEqual(['a b c', 'd'])
    expect(await journal(fenced)).toEqual(FOUR.map((id) => `${id} applied`))
  })

  test('whose answer is an outage wait, and an outage of one list is one of a row', async () => {
    const fenced = await begin(FOUR.map(create))
    const gone = { result: 'unavailable', status: undefined, detail: 'no', answeredBy: 'nobody' } as const
    const counters = new FailureCounters()
    const { sent, senders } = batchesTo(async function* () {
      yield shared(FOUR, gone)
    })
    await send(fenced, (await claimOf(fenced))!, senders, { counters })
    expect(counters.unanswered).toBe(1)
    expect(await states(fenced)).toEqual(FOUR.map(() => 'pending, unsure'))
    await sql`UPDATE dirsyncd.changes SET next_at = NULL WHERE run = ${fenced.run}`.execute(db)
    await send(fenced, (await claimOf(fenced))!, senders)
    // Each is looked up, and alone: one of them may be what the service fails at.
    expect(sent).toEqual(['a b c d', ...FOUR.map((id) => `${id}, looked up`)])
    expect(await journal(fenced)).toEqual(FOUR.map((id) => `${id} applied`))
  })

  test('that were not sent or not told of are given back; only these are looked up', async () => {
    const fenced = await begin(FOUR.map(create))
    const { sent, senders } = batchesTo(async function* (_, { maySend }) {
      yield shared(['a'], { result: 'rate-limited', retryAfterMs: 0 })
      if (!maySend()) yield shared(['b'], undefined)
      throw new Error('cut off')
    })
    await send(fenced, (await claimOf(fenced))!, senders)
    expect(await states(fenced)).toEqual(['pending', 'pending', 'pending, unsure', 'pending, unsure'])
    await sql`DELETE FROM dirsyncd.targets WHERE target = ${target}`.execute(db)
    await send(fenced, (await claimOf(fenced))!, batchesTo(applied).senders)
    expect(await journal(fenced)).toEqual(FOUR.map((id) => `${id} applied`))
    expect(sent).toEqual(['a b c d'])
  })

  test('are refused with 403 together, and go alone at the end of the run', async () => {
    const fenced = await begin(FOUR.map(create))
    const { senders } = batchesTo(async function* () {
      yield shared(FOUR, { result: 'forbidden', status: 403, detail: 'no' })
    })
    await send(fenced, (await claimOf(fenced))!, senders)
    const rows = await db
      .selectFrom('dirsyncd.changes')
      .select(['state', 'retry', 'refusals'])
      .where('run', '=', fenced.run)
      .execute()
    expect(rows).toEqual(FOUR.map(() => ({ state: 'pending', retry: true, refusals: 1 })))
  })

  test('stop the run when one of them was mixed up, and the next ones are read back again', async () => {
    const fenced = await begin([...FOUR, 'e', 'f'].map(create))
    const kind = { op: 'create-user', inBatches: true } as const
    await fenced.write((trx, run) => storeVerdict(trx, { ...run, run: fenced.run }, kind, 'passed'))
    const { sent, senders } = batchesTo(async function* (changes) {
      yield shared([changes[0]!.id], { ...APPLIED, mixedUp: 'It mixes up people.' })
      yield* applied(changes.slice(1))
    }, 3)
    await send(fenced, (await claimOf(fenced))!, senders)
    expect(sent).toEqual(['a b c'])
    expect(await findRun(db, fenced.run)).toMatchObject({
      stop_code: 'directory-unexpected',
      stop_reason: 'It mixes up people.',
    })
    expect(await lastVerdict(db, { sync, target }, kind)).toBe('failed')
  })

  test('are not sent by a worker whose run another process took over', async () => {
    const fenced = await begin(FOUR.map(create))
    const chunk = (await claimOf(fenced))!
    const { sent, senders } = batchesTo(async function* (changes, _, signal) {
      await takeOver()
      await new Promise((done) => signal.addEventListener('abort', done, { once: true }))
      yield shared([changes[0]!.id], APPLIED)
      throw signal.reason
    }, 2)
    await send(fenced, chunk, senders).catch(() => undefined)
    expect(sent).toEqual(['a b'])
    expect(await journal(fenced)).toEqual([])
  })
})
