import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import type { RunView } from '../../src/operations/control.ts'
import { createLocalControl } from '../../src/operations/local.ts'
import { openRemoteControl } from '../../src/operations/remote.ts'
import { addRun } from '../../src/store/runs.ts'
import { ALL, readRun } from '../../src/ui/cli/follow.ts'
import { buildAdminApp } from '../../src/ui/http/app.ts'
import { tempDir } from '../support/temp.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'

const bed = useTestStore()

const ROWS = 20_000

const refuse = () => Promise.reject(new Error('is not asked'))

async function runWithRows(): Promise<number> {
  const { db, sync } = bed
  const run = await addRun(db, { sync, target: TARGET, mode: 'sync', trigger: 'demand' })
  await sql`INSERT INTO dirsyncd.changes (run, number, phase, op, entry_id, fingerprint, change, removes)
    SELECT ${run}::integer, n, 'users', 'create-user', 'u' || n, md5(n::text),
      jsonb_build_object('op', 'create-user', 'id', 'u' || n, 'want', jsonb_build_object('name', 'Name ' || n)), 0
    FROM generate_series(1, ${ROWS}::integer) AS n`.execute(db)
  // That of a list is before all others.
  await sql`INSERT INTO dirsyncd.notices (run, number, kind, entry_id, code, params)
    SELECT ${run}::integer, n, 'user', 'u' || n, 'no-email', '{"from":"a file"}' FROM generate_series(-1, ${ROWS}::integer) AS n`.execute(
    db,
  )
  return run
}

test('a command gets all of a run from a daemon that makes only small answers of it', async () => {
  const run = await runWithRows()
  await using dir = await tempDir()
  const socket = join(dir.path, 'admin.sock')
  const local = createLocalControl({ db: bed.db, targets: new Map(), wake: async () => undefined })
  await using app = buildAdminApp({
    control: { ...local, explain: refuse, configuration: refuse },
    watching: { whyNotReady: async () => undefined, metrics: refuse },
    reload: refuse,
    log: silentLog(),
  })
  let longest = 0
  app.addHook('onSend', async (_request, _reply, payload) => {
    longest = Math.max(longest, String(payload).length)
  })
  await app.listen({ path: socket })
  await using remote = await openRemoteControl(socket)
  const view = await readRun(remote!, run, ALL)
  // 20,000 changes have 2.6 million characters.
  expect(longest).toBeLessThan(200_000)
  expect(view.changes).toHaveLength(ROWS)
  expect(view.notices).toHaveLength(ROWS + 2)
  const { db } = bed
  const { rows } = await sql<
    RunView['changes'][number]
  >`SELECT number, change, status, detail, state, '[]'::json AS reasons
    FROM dirsyncd.changes WHERE run = ${run} ORDER BY number`.execute(db)
  // As one answer had them, also in the order of their fields.
  expect(JSON.stringify(view.changes) === JSON.stringify(rows)).toBe(true)
  expect(JSON.stringify(view.notices[0])).toBe(
    '{"kind":"user","id":"u-1","code":"no-email","params":{"from":"a file"}}',
  )
})
