import { Pool } from 'undici'
import { openQueueBackend } from '../../src/queue/backend.ts'
import { createRequestBudget } from '../../src/queue/request-budget.ts'
import type { RequestLimit } from '../../src/queue/pace.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import type { OpenBackend } from './backends.ts'

/** The task of one process that sends as fast as the request budget allows. */
export type SenderTask = {
  readonly store: StoreOptions
  readonly redis: OpenBackend['redis']
  readonly limit: RequestLimit
  /** Left out: nothing is sent, to measure the cost of the budget alone. */
  readonly origin?: string
  readonly ms: number
}

export type SenderReport = {
  /** CPU time of the process per request, without the first second, in which Node compiles the code. */
  readonly cpuMicros: number
}

const AT_ONCE = 20
const COMPILING_MS = 1000

async function send(task: SenderTask): Promise<SenderReport> {
  await using store = await openStore(task.store)
  await using backend = await openQueueBackend(task.redis ?? { kind: 'store', store })
  const budget = createRequestBudget({ backend, pool: store.pool }, 'test', task.limit)
  const http = task.origin === undefined ? undefined : new Pool(task.origin, { connections: AT_ONCE })
  const end = AbortSignal.timeout(task.ms)
  let sent = 0
  let compiled = { sent, cpu: process.cpuUsage() }
  setTimeout(() => (compiled = { sent, cpu: process.cpuUsage() }), COMPILING_MS)
  const loop = async () => {
    while (!end.aborted) {
      const allowed = await budget(end).then(
        () => true,
        () => false,
      )
      if (!allowed) continue
      sent += 1
      if (http !== undefined) await (await http.request({ path: '/', method: 'GET' })).body.dump()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, loop))
  const { user, system } = process.cpuUsage(compiled.cpu)
  await http?.close()
  return { cpuMicros: (user + system) / (sent - compiled.sent) }
}

process.once('message', (task: SenderTask) => {
  send(task).then(
    (report) => process.send?.(report, () => process.disconnect()),
    (error: unknown) => {
      console.error(error)
      process.exitCode = 1
      process.disconnect()
    },
  )
})
