import { type Kysely, type KyselyPlugin, sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { TIMES } from '../../src/queue/times.ts'
import { deletedIdsLastDay } from '../../src/store/journal.ts'
import { countChanges as countShown } from '../../src/store/change-list.ts'
import { countNotices, storeAllNotices, storeBlocked, storePlan } from '../../src/store/plans.ts'
import { prune, type Retention } from '../../src/store/retention.ts'
import type { RunState } from '../../src/store/run-types.ts'
import { addRun, findRun, finishRun, listRuns, setRunState } from '../../src/store/runs.ts'
import type { Store } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/tables.ts'
import { beginFenced } from '../support/fenced.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'

const DAY_MS = 86_400_000

const bed = useTestStore()

let store: Store
let db: Kysely<Tables>
let sync: string

beforeEach(() => {
  ;({ store, db, sync } = bed)
})

interface NewRun {
  readonly of?: string
  /** How long ago it was asked for and ended. */
  readonly days?: number
  readonly state?: RunState
  readonly changes?: number
  readonly blocked?: number
}

/** Adds a run that has ended, with changes, a notice and a row of the journal, and returns its number. */
async function ended({
  of = sync,
  days = 0,
  state = 'done',
  changes = 1,
  blocked = 0,
}: NewRun = {}): Promise<number> {
  const run = await addRun(db, { sync: of, target: TARGET, mode: 'sync', trigger: 'demand' })
  const fenced = await beginFenced(store, run)
  const rows = Array.from({ length: changes + blocked }, (_, n) => ({
    planned: {
      change: {
        op: 'delete-user',
        id: `u${n}`,
        have: { name: 'Ada', email: null, groups: [] },
        why: 'gone',
      } as const,
      phase: 'delete-users' as const,
      fingerprint: `f${n}`,
      removes: 1,
    },
  }))
  await storePlan(fenced, rows.slice(0, changes), changes)
  const reasons = [{ block: 0 }]
  if (blocked > 0) {
    const blockedRows = rows.slice(changes).map((row) => ({ ...row, reasons }))
    await storeBlocked(fenced, blockedRows, blocked)
    await fenced.write((trx) =>
      setRunState(trx, run, 'planning', { blocked_in: run, blocked_digest: `digest ${run}` }),
    )
  }
  await storeAllNotices(fenced, [
    { kind: 'user', id: 'u', code: 'disabled', params: { from: 'row 2', isGone: false } },
  ])
  await fenced.write((trx) => finishRun(trx, run, { state }))
  await sql`UPDATE dirsyncd.runs SET finished_at = now() - make_interval(days => ${days}),
    requested_at = now() - make_interval(days => ${days}) WHERE run = ${run}`.execute(db)
  await journal(run, of, days * 24)
  return run
}

const countChanges = async (run: number) =>
  countShown(db, (await findRun(db, run)) ?? { run, blocked_in: null })

/** What an operator was asked by a run and decided, as the last run has taken it in. */
async function decided(run: number, { open, of = sync }: { readonly open: number; readonly of?: string }) {
  await sql`INSERT INTO dirsyncd.ledgers (sync, target, origin, folded, open, asked_in)
    VALUES (${of}, ${TARGET}, 'sync', 1000000, ${open}, ${run})`.execute(db)
  await sql`INSERT INTO dirsyncd.decisions (sync, target, origin, run, does, selection, keys, decided_by, reason, decided_at)
    SELECT ${of}, ${TARGET}, 'sync', ${run}, 'reject', '{}', 1, 'ada', '', finished_at FROM dirsyncd.runs WHERE run = ${run}`.execute(
    db,
  )
}

async function journal(run: number, of: string, hours: number): Promise<void> {
  await sql`INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, removes,
      outcome, intent_at)
    VALUES (${run}, 1, ${of}, ${TARGET}, 'delete-user', ${`u${hours}`}, 'f', 1, 'w', 1, 'applied',
      now() - make_interval(hours => ${hours}))`.execute(db)
}

/** A worker may be sending a change of the run. */
async function claimed(run: number): Promise<void> {
  await sql`INSERT INTO dirsyncd.chunks (run, first, last, worker) VALUES (${run}, 1, 1, 'w')`.execute(db)
}

interface PruneOptions extends Partial<Retention> {
  readonly db?: Kysely<Tables>
  readonly signal?: AbortSignal
  readonly syncs?: readonly string[]
}

function pruneNow({ db: on = db, signal, syncs = [sync], ...more }: PruneOptions = {}): Promise<void> {
  const retention = { timeMs: 90 * DAY_MS, rows: 1e6, isEmbedded: false, ...more }
  return prune(
    { db: on, leases: store.leases, retention, syncs, owner: 'me', lease: TIMES.lease },
    sync,
    signal,
  )
}

const runsLeft = async (of = sync) => (await listRuns(db, { sync: of, limit: 100 })).map(({ run }) => run)

async function count(table: string, of = sync): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count
    FROM ${sql.table(`dirsyncd.${table}`)} WHERE sync = ${of}`.execute(db)
  return rows[0]!.count
}

/** Tells of each statement how many rows it changed. */
function watched(onRows: (rows: number) => void): Kysely<Tables> {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      onRows(Number(result.numAffectedRows ?? 0))
      return result
    },
  }
  return db.withPlugin(plugin)
}

test('runs with their plans and journals that ended longer ago than the retention are removed', async () => {
  const old = await ended({ days: 91 })
  const recent = await ended({ days: 89 })
  const other = await ended({ of: `${sync}-other`, days: 91 })
  const newest = await ended()
  await ended({ of: `${sync}-other` })
  await pruneNow({ syncs: [sync, `${sync}-other`] })
  expect(await runsLeft()).toEqual([newest, recent])
  expect(await countChanges(old)).toBe(0)
  expect(await count('journal')).toBe(2)
  expect(await runsLeft(`${sync}-other`)).toContain(other)
})

test.each<[string, (run: number) => Promise<unknown>]>([
  ['that asks something an operator has not decided', (run) => decided(run, { open: 1 })],
  [
    'that the next run is compared with',
    (run) =>
      sql`INSERT INTO dirsyncd.check_states (sync, target, name, value)
        VALUES (${sync}, '', 'configuration', ${JSON.stringify({ run, options: {} })}::jsonb)`.execute(db),
  ],
  [
    'about which an operator decided, as no run has taken in yet',
    async (run) => {
      await decided(run, { open: 0 })
      await sql`UPDATE dirsyncd.ledgers SET folded = 0 WHERE sync = ${sync}`.execute(db)
    },
  ],
  ['of which a request may be under way', claimed],
  [
    'whose blocked changes a younger run shows',
    async (run) => {
      const same = await ended({ days: 1, state: 'held' })
      await sql`UPDATE dirsyncd.runs SET blocked_in = ${run} WHERE run IN (${run}, ${same})`.execute(db)
    },
  ],
])('an old run %s is kept with its plan', async (_case, protect) => {
  const kept = await ended({ days: 91 })
  const gone = await ended({ days: 91 })
  await protect(kept)
  await ended()
  await pruneNow()
  expect(await runsLeft()).toContain(kept)
  expect(await runsLeft()).not.toContain(gone)
  expect(await countChanges(kept)).toBe(1)
})

test('the newest run of a sync is kept however old it is', async () => {
  await ended({ days: 200 })
  const newest = await ended({ days: 100 })
  await pruneNow()
  expect(await runsLeft()).toEqual([newest])
})

test('the journal of a run of which a request may be under way is kept', async () => {
  const run = await ended({ days: 91 })
  await claimed(run)
  await ended({ days: 91 })
  await pruneNow()
  expect(await count('journal')).toBe(1)
})

test('whom the sync deleted within the last day stays known, however little is to be kept', async () => {
  const run = await ended()
  for (const hours of [23, 26]) await journal(run, sync, hours)
  await ended()
  await pruneNow({ timeMs: 1, rows: 0 })
  expect(await runsLeft()).toContain(run)
  expect((await deletedIdsLastDay(db, { sync, target: TARGET })).user).toEqual(new Set(['u0', 'u23']))
  expect((await deletedIdsLastDay(db, { sync, target: TARGET }, ['u23', 'u26'])).user).toEqual(
    new Set(['u23']),
  )
  expect(await count('journal')).toBe(3)
})

test('what is in quarantine stays, however old it is', async () => {
  await ended({ days: 91 })
  await sql`INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, params, since, tried_at)
    VALUES (${sync}, ${TARGET}, 'f', 'create-user', 'u', '{"answer":"refused"}', now() - interval '1 year', now() - interval '1 year')`.execute(
    db,
  )
  await ended()
  await pruneNow({ timeMs: DAY_MS, rows: 0 })
  expect(await count('quarantine')).toBe(1)
})

test('what was decided, by whom and why, stays as long as the retention, and until a run has taken it in', async () => {
  const [old, recent] = [await ended({ days: 91 }), await ended({ days: 89 })]
  await decided(old, { open: 0 })
  await sql`INSERT INTO dirsyncd.decisions (sync, target, origin, run, does, selection, keys, decided_by, reason, decided_at)
    SELECT sync, target, origin, ${recent}, does, selection, keys, 'bob', reason, now() - interval '89 days'
    FROM dirsyncd.decisions WHERE sync = ${sync}`.execute(db)
  await sql`UPDATE dirsyncd.ledgers SET folded = 0 WHERE sync = ${sync}`.execute(db)
  await pruneNow()
  expect(await count('decisions')).toBe(2)
  await sql`UPDATE dirsyncd.ledgers SET folded = 1000000 WHERE sync = ${sync}`.execute(db)
  await pruneNow()
  const { rows } =
    await sql`SELECT run, decided_by AS by FROM dirsyncd.decisions WHERE sync = ${sync}`.execute(db)
  expect(rows).toEqual([{ run: recent, by: 'bob' }])
})

test('where more rows are kept than allowed, the oldest runs go', async () => {
  const runs = []
  for (const days of [40, 30, 20]) runs.push(await ended({ days, changes: 1000 }))
  runs.push(await ended())
  await sql`ANALYZE dirsyncd.changes`.execute(db)
  // The changes of each of them are also in the journal.
  await pruneNow({ rows: 2500 })
  expect(await runsLeft()).toEqual([runs[3], runs[2]])
  await pruneNow({ rows: 2500 })
  expect(await runsLeft()).toHaveLength(2)
})

test('a statement deletes 5,000 rows at most, and what is interrupted goes on the next time', async () => {
  const old = await ended({ days: 91, changes: 12_000 })
  const newest = await ended()
  const stop = new AbortController()
  const deleted: number[] = []
  const on = watched((rows) => {
    deleted.push(rows)
    if (rows > 1000) stop.abort()
  })
  await pruneNow({ db: on, signal: stop.signal })
  expect(await countChanges(old)).toBe(7000)
  await pruneNow({ db: on })
  expect(await runsLeft()).toEqual([newest])
  expect(Math.max(...deleted)).toBe(5000)
})

test('notices, blocked changes, and plans of which nothing was made are kept for the 20 newest runs', async () => {
  const applied = await ended({ blocked: 1 })
  const heldInPart = await ended({ state: 'held', blocked: 1 })
  await sql`UPDATE dirsyncd.runs SET applying_at = now() WHERE run = ${heldInPart}`.execute(db)
  const repeated = []
  for (let n = 0; n < 22; n++)
    repeated.push(await ended({ state: n % 2 === 0 ? 'held' : 'planned', blocked: 1 }))
  await pruneNow()
  const kept = await Promise.all(repeated.map((run) => countChanges(run)))
  expect(kept).toEqual([0, 0, ...Array.from({ length: 20 }, () => 2)])
  expect(await countNotices(db, repeated[1]!)).toBe(0)
  expect(await countNotices(db, repeated[2]!)).toBe(1)
  for (const run of [heldInPart, applied]) expect(await countChanges(run)).toBe(1)
})

test('changes that a run asked about stay while few newer runs have others, and those that were decided with the decision', async () => {
  const decidedRun = await ended({ state: 'held', blocked: 1 })
  await decided(decidedRun, { open: 0 })
  for (let n = 0; n < 20; n++) await ended({ state: 'held', blocked: 1 })
  const asks = await ended({ state: 'held', blocked: 1 })
  for (let n = 0; n < 25; n++) await ended()
  await pruneNow()
  expect(await countChanges(asks)).toBe(2)
  expect(await countNotices(db, asks)).toBe(0)
  expect(await countChanges(decidedRun)).toBe(2)
})

test('with nothing to remove, no statement changes a row', async () => {
  for (let n = 0; n < 25; n++) await ended({ days: 1 })
  await pruneNow()
  let statements = 0
  let rows = 0
  await pruneNow({
    db: watched((changed) => {
      statements += 1
      rows += changed
    }),
  })
  expect(rows).toBe(0)
  expect(statements).toBeLessThan(11)
})

/** A sync that had a run some days ago, with something in each table. */
async function removedSync(days: number): Promise<string> {
  const of = `${sync}-removed`
  const run = await ended({ of, days })
  await sql`INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, params)
    VALUES (${of}, ${TARGET}, 'f', 'create-user', 'u', '{"answer":""}')`.execute(db)
  await decided(run, { open: 0, of })
  await sql`INSERT INTO dirsyncd.check_states (sync, target, name, value)
    VALUES (${of}, ${TARGET}, 'size', '{"users":1,"groups":1}')`.execute(db)
  await sql`INSERT INTO dirsyncd.verifications (sync, target, op, in_batches, verdict, run)
    VALUES (${of}, ${TARGET}, 'create-user', false, 'passed', ${run})`.execute(db)
  return of
}

const OF_SYNC = [
  'runs',
  'journal',
  'quarantine',
  'decisions',
  'ledgers',
  'check_states',
  'verifications',
  'leases',
]
const countAll = (of: string) => Promise.all(OF_SYNC.map((table) => count(table, of)))
const ALL = OF_SYNC.map(() => 1)

test('a sync that is no longer configured is forgotten when its last run is older than the retention', async () => {
  const of = await removedSync(91)
  expect(await countAll(of)).toEqual(ALL)
  await pruneNow()
  expect(await countAll(of)).toEqual(ALL.map(() => 0))
})

test.each<[string, number, (of: string) => Promise<unknown>]>([
  ['ran since', 89, async () => undefined],
  ['was asked to run', 91, (of) => addRun(db, { sync: of, target: TARGET, mode: 'sync', trigger: 'demand' })],
  [
    'may have a request under way',
    91,
    async (of) => {
      for (const run of await runsLeft(of)) await claimed(run)
    },
  ],
])('a sync that another daemon may have is kept where it %s', async (_case, days, busy) => {
  const of = await removedSync(days)
  await busy(of)
  const before = await countAll(of)
  await pruneNow()
  expect(await countAll(of)).toEqual(before)
})

test('a sync that somebody works on is kept', async () => {
  const of = await removedSync(91)
  await using _lease = await store.leases.take(of, 'other', TIMES.lease)
  await pruneNow({ timeMs: 1 })
  expect(await countAll(of)).toEqual(ALL)
})

test('a sync that is configured is kept, also where another one runs', async () => {
  const of = await removedSync(91)
  await pruneNow({ syncs: [sync, of] })
  expect(await countAll(of)).toEqual(ALL)
})
