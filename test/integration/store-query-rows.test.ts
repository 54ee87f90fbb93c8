import { type Kysely, sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Tables } from '../../src/store/tables.ts'
import { addRun } from '../../src/store/runs.ts'
import type { Fenced } from '../../src/store/fenced-run.ts'
import { meetNeeds } from '../../src/sync/apply/needs.ts'
import { nextDue } from '../../src/sync/apply/stage.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'

const bed = useTestStore()
const ROWS = 60_000
/** More than a query needs of these rows, and far fewer than there are. */
const FEW = 500

const SYNC = 'queried'
let runs: readonly number[]

beforeAll(async () => {
  const { db } = bed
  runs = [await newRun(), await newRun()]
  for (const run of runs) {
    await sql`INSERT INTO dirsyncd.changes (run, number, phase, op, entry_id, fingerprint, change, removes, state)
      SELECT ${run}::integer, n, 'users', 'update-user', 'u' || n, md5(n::text), '{}', 0, 'applied'
      FROM generate_series(1, ${ROWS}::integer) AS n`.execute(db)
    await addTakers(run, ROWS + 1, 20)
  }
  await sql`UPDATE dirsyncd.changes SET refusals = 1, state = CASE number WHEN 7 THEN 'pending' ELSE 'unknown' END
    WHERE run = ${runs[1]} AND number IN (7, 8)`.execute(db)
  // Outside of a transaction, and of a table that autovacuum may not have seen.
  await sql`VACUUM ANALYZE dirsyncd.changes`.execute(db)
})

async function newRun(): Promise<number> {
  const run = await addRun(bed.db, { sync: SYNC, target: TARGET, mode: 'sync', trigger: 'schedule' })
  await sql`UPDATE dirsyncd.runs SET state = 'done', stored_changes = ${ROWS}, finished_at = now()
    WHERE run = ${run}`.execute(bed.db)
  return run
}

/** A chain: users who each get the e-mail of the one before. */
async function addTakers(run: number, first: number, count: number): Promise<void> {
  await sql`INSERT INTO dirsyncd.changes (run, number, phase, op, entry_id, fingerprint, change, removes)
    SELECT ${run}::integer, n, 'take-emails', 'update-user', 'taker' || n, md5(n::text),
      jsonb_build_object('takes', jsonb_build_object('from', 'taker' || (n - 1), 'after', n)), 0
    FROM generate_series(${first}::integer, ${first + count - 1}::integer) AS n`.execute(bed.db)
}

/** What the work returns, and how many rows of `changes` it reads. */
function reading<T>(work: (trx: Kysely<Tables>) => Promise<T>): Promise<{ result: T; rows: number }> {
  return bed.db.transaction().execute(async (trx) => {
    // The rows that others read for this transaction are counted as theirs.
    await sql`SET LOCAL max_parallel_workers_per_gather = 0`.execute(trx)
    const result = await work(trx)
    const { rows } = await sql<{ rows: string }>`SELECT seq_tup_read + idx_tup_fetch AS rows
      FROM pg_stat_xact_user_tables WHERE schemaname = 'dirsyncd' AND relname = 'changes'`.execute(trx)
    return { result, rows: Number(rows[0]!.rows) }
  })
}

test('which e-mails are free is asked without reading changes of other phases or runs', async () => {
  const part = { phase: 'take-emails', retry: false } as const
  const { result, rows } = await reading((trx) => nextDue(trx, runs[1]!, part, { after: 0, limit: 100 }))
  expect(result).toEqual([ROWS + 1])
  expect(rows).toBeLessThan(FEW)
})

test('which creates failed, and which names are new, is asked without reading the other changes', async () => {
  const [run] = runs
  await sql`UPDATE dirsyncd.changes SET op = CASE WHEN number < 100 THEN 'update-group' ELSE 'create-user' END,
      state = CASE number WHEN 100 THEN 'failed' ELSE 'applied' END
    WHERE run = ${run!} AND number BETWEEN 1 AND 200`.execute(bed.db)
  const change = { op: 'set-members', id: 'u1', name: 'G', have: [], want: ['u100', 'u101'] } as const
  const claimed = {
    number: 1,
    change,
    fingerprint: '',
    attempts: 1,
    refusals: 0,
    retry: false,
    unsure: false,
  }
  const stage = { phase: 'members', retry: false } as const
  const { result, rows } = await reading((trx) => meetNeeds(trx as Fenced, run!, stage, [claimed]))
  expect(result).toMatchObject([{ change: { want: ['u101'] } }])
  expect(rows).toBeLessThan(FEW)
})
