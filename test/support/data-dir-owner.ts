import { setTimeout as sleep } from 'node:timers/promises'
import { sentence } from '../../src/errors.ts'
import { openStore } from '../../src/store/open.ts'

export type OwnerTask = { dataDir: string; startAt: number; write: boolean }
export type OwnerAnswer = { owns: number } | { refused: string } | { wrote: number }

/** Opens a data directory at a given moment, says what came of it, and on demand writes row after row until it is killed. */
async function own({ dataDir, startAt, write }: OwnerTask): Promise<void> {
  await sleep(Math.max(0, startAt - Date.now()))
  await using store = await openStore({ kind: 'embedded', dataDir, command: 'a test' })
  answer({ owns: process.pid })
  if (!write) {
    await new Promise((resolve) => process.once('disconnect', resolve))
    return
  }
  await store.pool.query('create table if not exists public.written (n serial primary key, filler text)')
  for (;;) {
    const { rows } = await store.pool.query<{ n: number }>(
      "insert into public.written (filler) values (repeat('x', 2000)) returning n",
    )
    for (const { n } of rows) answer({ wrote: n })
  }
}

function answer(what: OwnerAnswer): void {
  process.send?.(what)
}

process.once('message', (task: OwnerTask) => {
  own(task).catch((error: unknown) => {
    answer({ refused: sentence(error) })
    process.disconnect()
  })
})
