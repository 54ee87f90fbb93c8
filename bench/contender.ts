import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { peakMemory, resetPeakMemory } from './memory.ts'

/** A message to the process of a contender. */
export type ContenderRequest =
  | { readonly open: unknown; readonly warmUps: number }
  | { readonly run: true }
  | { readonly idleMs: number }
  | { readonly close: true }

/** Its reply: ready, the times of one repetition, what the process used, or an error. */
export type ContenderReply = { readonly ready: true } | Times | Usage | { readonly failed: string }

/** Milliseconds of one repetition, and of CPU that its process used meanwhile. */
export interface Times {
  readonly ms: number
  readonly cpuMs: number
}

/** What a process used after the warm-up. */
export interface Usage {
  /** Peak resident memory. */
  readonly peakBytes: number
  /** How long the loop kept others waiting, in milliseconds. */
  readonly loopDelay: LoopDelay
}

export interface LoopDelay {
  readonly p999Ms: number
  readonly maxMs: number
  /** The longest garbage collection. */
  readonly gcMs: number
}

/** One side of a comparison, in its own process. */
export interface Contender {
  /** Runs one repetition. */
  run(): Promise<void>
  close(): Promise<void>
}

/** Executes the messages of the measuring process. What the process uses counts after the warm-up. */
export function serveContender(open: (task: never) => Promise<Contender>): void {
  let contender: Contender | undefined
  let warmUps = 0
  let repetitions = 0
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const gc = longestGarbageCollection()

  async function handle(request: ContenderRequest): Promise<ContenderReply> {
    if ('open' in request) {
      contender = await open(request.open as never)
      warmUps = request.warmUps
      return { ready: true }
    }
    if (contender === undefined) throw new Error('nothing was opened')
    if ('run' in request) return repeat(contender)
    if ('idleMs' in request) {
      // It wakes up a thousand times a second, which would be most of what an idle process does.
      loop.disable()
      return timesOf(() => sleep(request.idleMs))
    }
    // The timer of the loop delay is itself due a millisecond after the last time.
    const loopDelay = { p999Ms: loop.percentile(99.9) / 1e6, maxMs: loop.max / 1e6, gcMs: gc.ms }
    const usage = { peakBytes: peakMemory(), loopDelay }
    await contender.close()
    return usage
  }

  function repeat(opened: Contender): Promise<Times> {
    if (repetitions === warmUps) {
      resetPeakMemory()
      loop.reset()
      gc.ms = 0
    }
    repetitions += 1
    return timesOf(() => opened.run())
  }

  process.on('message', (request: ContenderRequest) => {
    handle(request)
      .catch((error: unknown): ContenderReply => ({
        failed: String(error instanceof Error ? error.stack : error),
      }))
      .then((reply) => process.send?.(reply))
      .catch(() => process.exit(1))
  })
}

async function timesOf(work: () => Promise<unknown>): Promise<Times> {
  const start = performance.now()
  const cpuStart = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(cpuStart)
  return { ms: performance.now() - start, cpuMs: (user + system) / 1000 }
}

function longestGarbageCollection(): { ms: number } {
  const longest = { ms: 0 }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration)
  }).observe({ entryTypes: ['gc'] })
  return longest
}
