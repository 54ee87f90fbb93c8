import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'

/** How long the requests of a probe took, in milliseconds. */
export interface Delays {
  readonly count: number
  readonly p50: number
  readonly p999: number
  readonly max: number
}

interface Task {
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

const INTERVAL_MS = 10

/** Sends one request after another in a thread of its own, whatever the test itself is busy with. */
export function startProbe(task: Task): { stop(): Promise<Delays> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: task })
  return {
    async stop() {
      worker.postMessage('stop')
      const [delays] = (await once(worker, 'message')) as [Delays]
      await worker.terminate()
      return delays
    },
  }
}

async function probe({ origin, path, headers }: Task): Promise<Delays> {
  const stopped = new AbortController()
  parentPort!.once('message', () => stopped.abort())
  const client = new Client(origin)
  const times: number[] = []
  while (!stopped.signal.aborted) {
    const start = performance.now()
    const { statusCode, body } = await client.request({ path, method: 'GET', headers })
    await body.dump()
    if (statusCode !== 200) throw new Error(`the probe was answered with ${statusCode}`)
    times.push(performance.now() - start)
    await sleep(INTERVAL_MS)
  }
  await client.close()
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count: sorted.length, p50: at(0.5), p999: at(0.999), max: at(1) }
}

// In the thread of the probe.
if (parentPort !== null && workerData !== null) parentPort.postMessage(await probe(workerData as Task))
