import { Pool } from 'undici'
import { openQueueBackend } from '../../src/queue/backend.ts'
import { createRequestBudget } from '../../src/queue/request-budget.ts'
import type { RequestLimit } from '../../src/queue/pace.ts'
import { openStore } from '../../src/store/open.ts'
import type { OpenBackend } from './backends.ts'

/** The task of one process that sends as fast as the request budget allows. */
export type SenderTask = {
  readonly store: Parameters<typeof openStore>[0]
  readonly redis: OpenBackend['redis']
  readonly limit: RequestLimit
  readonly origin: string
  readonly ms: number
}

const AT_ONCE = 20

async function send(task: SenderTask): Promise<void> {
  await using store = await openStore(task.store)
  await using backend = await openQueueBackend(task.redis ?? { kind: 'store', store })
  const budget = createRequestBudget({ backend, pool: store.pool }, 'test', task.limit)
  const http = new Pool(task.origin, { connections: AT_ONCE })
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
  await Promise.all(Array.from({ length: AT_ONCE }, loop))
  await http.close()
}

process.once('message', (task: SenderTask) => {
  send(task)
    .catch((error: unknown) => {
      console.error(error)
      process.exitCode = 1
    })
    .finally(() => process.disconnect())
})
