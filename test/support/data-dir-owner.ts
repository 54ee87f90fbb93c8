import { setTimeout as sleep } from 'node:timers/promises'
import { sentence } from '../../src/base/errors.ts'
import { openStore } from '../../src/store/open.ts'

export type OwnerTask = { dataDir: string; startAt: number; write: boolean }
export type OwnerAnswer = { owns: number } | { refused: string } | { wrote: number }

/** Opens a data directory at `startAt` and reports the result; with `write`, then inserts rows until it is killed. */
async function own({ dataDir, startAt, write }: OwnerTask): Promise<void> {
  await sleep(Math.max(0, startAt - Date.now()))
  await using store = await openStore({ kind: 'embedded', dataDir, command: 'a test' })
  send({ owns: process.pid })
  if (!write) {
    await new Promise((resolve) => process.once('disconnect', resolve))
    return
  }
  await store.pool.query('create table if not exists public.written (n serial primary key, filler text)')
  for (;;) {
    const { rows } = await store.pool.query<{ n: number }>(
      "insert into public.written (filler) values (repeat('x', 2000)) returning n",
    )
    for (const { n } of rows) send({ wrote: n })
  }
}

function send(answer: OwnerAnswer): void {
  process.send?.(answer)
}

process.once('message', (task: OwnerTask) => {
  own(task).catch((error: unknown) => {
    send({ refused: sentence(error) })
    process.disconnect()
  })
})
