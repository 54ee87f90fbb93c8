import { startPostgres } from '../test/support/postgres.ts'
import { recordRequests, runSender } from '../test/support/budget-senders.ts'
import type { SenderTask } from '../test/support/budget-sender.ts'
import { startRedis } from '../test/support/redis.ts'
import { refusedBySlidingWindow, refusedByTokenBucket, shareUsed } from '../test/support/arrivals.ts'

/** What a service sees of processes that share a request budget and send as fast as it allows. */
export interface BudgetFigures {
  readonly place: 'PostgreSQL' | 'Redis'
  readonly perSecond: number
  readonly processes: number
  readonly requests: number
  /** Of the limit. */
  readonly used: number
  /** The requests that each kind of service would refuse, as a share. */
  readonly refused: { readonly tokenBucket: number; readonly slidingWindow: number }
  /** CPU time of one process per request handed out, when nothing is sent. */
  readonly cpuMicros: number
}

const SEND_MS = 22_000
const CPU_MS = 5000

export async function benchBudget(): Promise<BudgetFigures[]> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.adopt(await startPostgres(), (server) => server.close())
  const redis = stack.adopt(await startRedis({ appendOnly: true }), (server) => server.close())
  const figures: BudgetFigures[] = []
  for (const place of ['PostgreSQL', 'Redis'] as const) {
    for (const perSecond of [100, 1000]) {
      const limit = { requests: perSecond, perMs: 1000 }
      const open = async () => ({
        store: { kind: 'postgres', url: await postgres.createDatabase() } as const,
        redis: place === 'Redis' ? ({ kind: 'redis', url: redis.url } as const) : undefined,
        limit,
      })
      const { cpuMicros } = await runSender({ ...(await open()), ms: CPU_MS })
      for (const processes of [1, 3]) {
        const seen = await measure({ ...(await open()), ms: SEND_MS }, processes)
        figures.push({ place, perSecond, processes, ...seen, cpuMicros })
      }
    }
  }
  return figures
}

async function measure(task: SenderTask, processes: number) {
  await using service = await recordRequests()
  await Promise.all(Array.from({ length: processes }, () => runSender({ ...task, origin: service.origin })))
  const { times } = service
  return {
    requests: times.length,
    used: shareUsed(task.limit, times),
    refused: {
      tokenBucket: refusedByTokenBucket(task.limit, times) / times.length,
      slidingWindow: refusedBySlidingWindow(task.limit, times) / times.length,
    },
  }
}
