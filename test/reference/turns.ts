import { setImmediate } from 'node:timers/promises'
import type { Steps } from './directory/steps.ts'

/** For how long others wait at most, if each part takes a few milliseconds. */
const TURN_MS = 10

/** Does long work in turns, between which the process answers others. Throws the reason of an aborted signal. */
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
