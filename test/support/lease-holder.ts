import type { Lease, LeaseTimes } from '../../src/store/lease.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { processName } from '../../src/store/process-name.ts'

export type HolderTask =
  | { readonly do: 'take'; readonly url: string; readonly sync: string; readonly times: LeaseTimes }
  /** Blocks the loop until the process was frozen for longer than `ms`, and answers before it turns again. */
  | { readonly do: 'watch for a freeze'; readonly ms: number }
  /** Frees the lease and closes all but the thread that renews leases. */
  | { readonly do: 'leave' }
export type HolderAnswer = { took: boolean } | { watches: true } | { heldAfterFreeze: boolean }

let store: Store
let lease: Lease | undefined

async function take({ url, sync, times }: Extract<HolderTask, { do: 'take' }>): Promise<void> {
  store = await openStore({ kind: 'postgres', url })
  lease = await store.leases.take(sync, processName(), times)
  send({ took: lease !== undefined })
}

function watchForFreeze(ms: number, since: number): void {
  let last = since
  for (let now = performance.now(); now - last < ms; now = performance.now()) last = now
  send({ heldAfterFreeze: lease?.isHeld() === true })
}

async function leave(): Promise<void> {
  await lease?.[Symbol.asyncDispose]()
  await store.pool.end()
  process.disconnect()
}

function send(answer: HolderAnswer): void {
  process.send?.(answer)
}

process.on('message', (task: HolderTask) => {
  if (task.do === 'take') void take(task)
  else if (task.do === 'leave') void leave()
  else {
    const since = performance.now()
    // The answer leaves the process first.
    process.send?.({ watches: true } satisfies HolderAnswer, () => watchForFreeze(task.ms, since))
  }
})
