import { onTestFinished, vi } from 'vitest'

/** An outage this long ends a run, where a test moves the clock; shorter than a lease lasts without being renewed. */
export const OUTAGE_MS = 50_000

/** Moves the clock by which the runs of this process measure an outage, behind its end. Tells how often they looked. */
export function outlastOutage(): () => number {
  let looks = 0
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    if (new Error('a look').stack?.includes('/apply/apply-loop.ts')) looks += 1
    return now() + OUTAGE_MS + 1000
  })
  onTestFinished(() => clock.mockRestore())
  return () => looks
}
