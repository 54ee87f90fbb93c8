import { peakMemory, resetPeakMemory } from './memory.ts'
import { type Profile, startProfile } from './profile.ts'

/** What a contender's process is asked. */
export type Ask =
  | { readonly open: unknown; readonly profileDir: string | undefined }
  | { readonly run: true }
  | { readonly close: true }

/** What it answers: ready, the time of one repetition in milliseconds, or its memory at the end. */
export type Answer =
  | { readonly ready: true }
  | { readonly ms: number }
  | { readonly memory: Memory }
  | { readonly failed: string }

/** The most memory that was resident, in bytes: until the warm-up had ended, and from then on. */
export interface Memory {
  readonly startBytes: number
  readonly peakBytes: number
}

/** One side of a comparison, opened in a process of its own. */
export interface Contender {
  /** One repetition. */
  run(): Promise<void>
  close(): Promise<void>
}

/**
 * Serves the process that measures: opens with the task that it sends, repeats as often as it says, and ends. The first
 * repetition is the warm-up: memory and profile begin behind it.
 */
export function serveContender(open: (task: never) => Promise<Contender>): void {
  let contender: Contender | undefined
  let profileDir: string | undefined
  let profile: Profile | undefined
  let startBytes = 0
  let repetitions = 0

  async function answer(ask: Ask): Promise<Answer> {
    if ('open' in ask) {
      contender = await open(ask.open as never)
      profileDir = ask.profileDir
      return { ready: true }
    }
    if (contender === undefined) throw new Error('nothing was opened')
    if ('run' in ask) return { ms: await repeat(contender) }
    const memory = { startBytes, peakBytes: peakMemory() }
    await profile?.write()
    await contender.close()
    return { memory }
  }

  async function repeat(opened: Contender): Promise<number> {
    if (repetitions === 1) {
      startBytes = peakMemory()
      resetPeakMemory()
      if (profileDir !== undefined) profile = await startProfile(profileDir)
    }
    repetitions += 1
    const start = performance.now()
    await opened.run()
    return performance.now() - start
  }

  process.on('message', (ask: Ask) => {
    answer(ask)
      .catch((error: unknown): Answer => ({ failed: String(error instanceof Error ? error.stack : error) }))
      .then((message) => process.send?.(message))
      .catch(() => process.exit(1))
  })
}
