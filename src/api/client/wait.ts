import { setTimeout as sleep } from 'node:timers/promises'

/** `AbortSignal.any` would leave memory behind for each call, because the given signals may live long. */
export async function withAnySignal<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(signals.find((signal) => signal?.aborted)?.reason)
  if (signals.some((signal) => signal?.aborted)) onAbort()
  for (const signal of signals) signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(controller.signal)
  } finally {
    for (const signal of signals) signal?.removeEventListener('abort', onAbort)
  }
}

/** Rejects with the signal's reason as soon as it is aborted. */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? undefined : { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/** For a promise whose work takes no signal: rejects with the signal's reason as soon as that is aborted. */
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
