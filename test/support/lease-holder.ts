import { existsSync } from 'node:fs'
import type { Lease, LeaseTimes } from '../../src/store/lease.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { processName } from '../../src/base/database/process-name.ts'

export type HolderTask =
  | { readonly do: 'take'; readonly url: string; readonly sync: string; readonly times: LeaseTimes }
  /** Blocks the event loop until there is such a file. */
  | { readonly do: 'block'; readonly until: string }
  /** Frees the lease and closes all but the thread that renews leases. */
  | { readonly do: 'leave' }
export type HolderAnswer = { took: boolean } | { lost: true }

let store: Store
let lease: Lease | undefined

async function take({ url, sync, times }: Extract<HolderTask, { do: 'take' }>): Promise<void> {
  store = await openStore({ kind: 'postgres', url })
  lease = await store.leases.take(sync, processName(), times)
  lease?.signal.addEventListener('abort', () => send({ lost: true }))
  send({ took: lease !== undefined })
}

async function leave(): Promise<void> {
  await lease?.[Symbol.asyncDispose]()
  await store.pool.end()
  process.disconnect()
}

function block(until: string): void {
  while (!existsSync(until)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
}

function send(answer: HolderAnswer): void {
  process.send?.(answer)
}

process.on('message', (task: HolderTask) => {
  if (task.do === 'take') void take(task)
  else if (task.do === 'block') block(task.until)
  else void leave()
})
