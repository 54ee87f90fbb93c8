import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { peakMemory, resetPeakMemory } from './memory.ts'
import { type Profile, startProfile } from './profile.ts'

/** A message to the process of a contender. */
export type ContenderRequest =
  | { readonly open: unknown; readonly profileDir: string | undefined; readonly warmUps: number }
  | { readonly run: true }
  | { readonly cpu: true }
  | { readonly close: true }

/** Its reply: ready, the times of one repetition, its CPU time, its memory use, or an error. */
export type ContenderReply =
  | { readonly ready: true }
  | Times
  | { readonly cpuMs: number }
  | { readonly memory: Memory }
  | { readonly failed: string }

/** Milliseconds of one repetition, and of CPU that its process used meanwhile. */
export interface Times {
  readonly ms: number
  readonly cpuMs: number
}

/** Peak resident memory in bytes, up to the end of the warm-up and after it. */
export interface Memory {
  readonly startBytes: number
  readonly peakBytes: number
  /** How long the loop kept others waiting after the warm-up, in milliseconds. */
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

/**
 * Executes the messages of the measuring process: open, run, cpu, close. The peak memory and the CPU profile start
 * after the repetitions that are the warm-up.
 */
export function serveContender(open: (task: never) => Promise<Contender>): void {
  let contender: Contender | undefined
  let profileDir: string | undefined
  let profile: Profile | undefined
  let warmUps = 0
  let startBytes = 0
  let repetitions = 0
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const gc = longestGarbageCollection()

  async function handle(request: ContenderRequest): Promise<ContenderReply> {
    if ('open' in request) {
      contender = await open(request.open as never)
      profileDir = request.profileDir
      warmUps = request.warmUps
      return { ready: true }
    }
    if (contender === undefined) throw new Error('nothing was opened')
    if ('run' in request) return repeat(contender)
    if ('cpu' in request) {
      // It wakes up a thousand times a second, which would be most of what an idle process does.
      loop.disable()
      return { cpuMs: cpuTime() }
    }
    const memory = { startBytes, peakBytes: peakMemory(), loopDelay: { ...delayOf(loop), gcMs: gc.ms } }
    await profile?.write()
    await contender.close()
    return { memory }
  }

  async function repeat(opened: Contender): Promise<Times> {
    if (repetitions === warmUps) {
      startBytes = peakMemory()
      resetPeakMemory()
      loop.reset()
      gc.ms = 0
      if (profileDir !== undefined) profile = await startProfile(profileDir)
    }
    repetitions += 1
    const start = performance.now()
    const cpuStart = cpuTime()
    await opened.run()
    return { ms: performance.now() - start, cpuMs: cpuTime() - cpuStart }
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

/** The timer itself is due a millisecond after the last time. */
function delayOf(loop: ReturnType<typeof monitorEventLoopDelay>): Omit<LoopDelay, 'gcMs'> {
  return { p999Ms: loop.percentile(99.9) / 1e6, maxMs: loop.max / 1e6 }
}

function longestGarbageCollection(): { ms: number } {
  const longest = { ms: 0 }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration)
  }).observe({ entryTypes: ['gc'] })
  return longest
}

/** CPU time of this process since its start, in milliseconds. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
