import { Pool } from 'undici'
import { openQueueBackend } from '../../src/queue/backend.ts'
import { createRequestBudget, type RequestLimit } from '../../src/queue/request-budget.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import type { OpenBackend } from './backends.ts'

/** The task of one process in the test of the request budget. */
export type SenderTask = {
  store: StoreOptions
  redis: OpenBackend['redis']
  limit: RequestLimit
  origin: string
  ms: number
}

/** Sends requests for `ms` milliseconds, as fast as the budget allows. */
async function send(task: SenderTask): Promise<void> {
  await using store = await openStore(task.store)
  await using backend = await openQueueBackend(task.redis ?? { kind: 'store', store })
  const budget = createRequestBudget({ backend, pool: store.pool }, 'test', task.limit)
  const http = new Pool(task.origin, { connections: 20 })
  const end = AbortSignal.timeout(task.ms)
  const loop = async () => {
    while (!end.aborted) {
      const allowed = await budget(end).then(
        () => true,
        () => false,
      )
      if (allowed) await (await http.request({ path: '/', method: 'GET' })).body.dump()
    }
  }
  process.send?.('started')
  await Promise.all(Array.from({ length: 20 }, loop))
  await http.close()
}

process.once('message', (task: SenderTask) => {
  send(task).then(
    () => process.disconnect(),
    (error: unknown) => {
      console.error(error)
      process.exitCode = 1
      process.disconnect()
    },
  )
})
