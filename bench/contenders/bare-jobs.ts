import { openQueueBackend } from '../../src/queue/backend.ts'
import { openStore } from '../../src/store/open.ts'
import { serveContender } from '../contender.ts'

export interface BareJobsTask {
  readonly dataDir: string
  readonly jobs: number
  readonly concurrency: number
}

/** BullMQ on the embedded pool, each job with one SQL read and one write. */
serveContender(async ({ dataDir, jobs, concurrency }: BareJobsTask) => {
  const stack = new AsyncDisposableStack()
  const store = stack.use(await openStore({ kind: 'embedded', dataDir }))
  const backend = stack.use(await openQueueBackend({ kind: 'store', store }))
  await store.pool.query('create table public.rows (n integer primary key, done boolean not null)')
  const queue = backend.createQueue<{ n: number }>('bench')
  let unfinished = 0
  let drained = Promise.withResolvers<void>()
  const process = async ({ n }: { n: number }) => {
    const { rows } = await store.pool.query('select done from public.rows where n = $1', [n])
    if (rows.length === 1) await store.pool.query('update public.rows set done = true where n = $1', [n])
  }
  const worker = backend.createWorker<{ n: number }>('bench', (job) => process(job.data), { concurrency })
  worker.on('completed', () => {
    unfinished -= 1
    if (unfinished === 0) drained.resolve()
  })
  return {
    async run() {
      unfinished = jobs
      drained = Promise.withResolvers<void>()
      await store.pool.query('truncate public.rows')
      await store.pool.query('insert into public.rows select n, false from generate_series(1, $1::int) n', [
        jobs,
      ])
      const all = Array.from({ length: jobs }, (_, index) => ({ name: 'bench', data: { n: index + 1 } }))
      for (let start = 0; start < jobs; start += 1000) await queue.addBulk(all.slice(start, start + 1000))
      await drained.promise
    },
    close: () => stack.disposeAsync(),
  }
})
