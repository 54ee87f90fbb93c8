import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TIMES } from '../../src/queue/times.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { storePlan } from '../../src/store/plans.ts'
import { prune } from '../../src/store/retention.ts'
import { addRun, finishRun } from '../../src/store/runs.ts'
import type { Tables } from '../../src/store/tables.ts'
import { vacuumEmbedded } from '../../src/store/vacuum.ts'
import { beginFenced } from '../support/fenced.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { type TempDir, tempDir } from '../support/temp.ts'

const DAY_MS = 86_400_000
const SYNC = 'corp'

let dir: TempDir
let store: Store
let db: Kysely<Tables>

beforeAll(async () => {
  dir = await tempDir()
  await putEmptyStore(dir.path)
  store = await openStore({ kind: 'embedded', dataDir: dir.path })
  db = store.db
})
afterAll(async () => {
  await store?.[Symbol.asyncDispose]()
  await dir?.[Symbol.asyncDispose]()
})

async function bytesOf(folder: string): Promise<number> {
  const files = await readdir(join(dir.path, 'store', folder), { recursive: true, withFileTypes: true })
  const sizes = files.map(async (file) =>
    file.isFile() ? (await stat(join(file.parentPath, file.name))).size : 0,
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** A run that applied 100 changes a month ago. */
async function oldRun(): Promise<void> {
  const run = await addRun(db, { sync: SYNC, target: 'here', mode: 'sync', trigger: 'demand' })
  const fenced = await beginFenced(store, run)
  const changes = Array.from({ length: 100 }, (_, n) => ({
    planned: {
      change: {
        op: 'delete-user',
        id: `u${n}`,
        have: { name: `Person ${n}`, email: null, groups: [] },
        why: 'gone',
      } as const,
      phase: 'delete-users' as const,
      fingerprint: `f${n}`,
      removes: 1,
    },
  }))
  await storePlan(fenced, changes, changes.length)
  await sql`UPDATE dirsyncd.changes SET chunk = 1 WHERE run = ${run}`.execute(db)
  await sql`UPDATE dirsyncd.changes SET chunk = NULL, state = 'applied' WHERE run = ${run}`.execute(db)
  await sql`INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, removes,
      outcome, intent_at)
    SELECT run, number, ${SYNC}, 'here', op, entry_id, fingerprint, 1, 'w', 1, 'applied', now() - interval '30 days'
    FROM dirsyncd.changes WHERE run = ${run}`.execute(db)
  await fenced.write((trx) => finishRun(trx, run, { state: 'done' }))
  await sql`UPDATE dirsyncd.runs SET finished_at = now() - interval '30 days' WHERE run = ${run}`.execute(db)
}

test('the folder of an embedded store does not grow with runs that are removed again', async () => {
  const sizes: number[] = []
  for (let run = 0; run < 30; run++) {
    await oldRun()
    const retention = { timeMs: DAY_MS, rows: 1e6, isEmbedded: true }
    await prune({ db, leases: store.leases, retention, syncs: [SYNC], owner: 'me', lease: TIMES.lease }, SYNC)
    sizes.push(await bytesOf('base'))
  }
  expect(sizes.at(-1)! - sizes[4]!).toBeLessThan(100_000)
})

test('the write-ahead log of an embedded store is cut', async () => {
  const logSize = async () => {
    const { rows } = await sql<{ bytes: string }>`SELECT pg_current_wal_lsn() - redo_lsn AS bytes
      FROM pg_control_checkpoint()`.execute(db)
    return Number(rows[0]!.bytes)
  }
  await sql`CREATE TABLE public.filler AS SELECT repeat(md5(n::text), 30) AS text FROM generate_series(1, 40000) AS n`.execute(
    db,
  )
  expect(await logSize()).toBeGreaterThan(32e6)
  await vacuumEmbedded(db)
  expect(await logSize()).toBeLessThan(1e6)
})
