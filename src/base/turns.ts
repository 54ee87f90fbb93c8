import { setImmediate } from 'node:timers/promises'
import type { Steps } from './steps.ts'

/** The longest delay of other work, if each part takes a few milliseconds. */
const TURN_MS = 10

/** The process does other work between the turns. Throws the reason of an aborted signal. */
export async function inTurns<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const end = performance.now() + TURN_MS
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
    await setImmediate()
    signal?.throwIfAborted()
  }
}
