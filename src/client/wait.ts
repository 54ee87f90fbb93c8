import { setTimeout as sleep } from 'node:timers/promises'

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? undefined : { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/** For work that takes no signal: rejects with the signal's reason as soon as the signal is aborted. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
