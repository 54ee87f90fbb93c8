import { setTimeout as sleep } from 'node:timers/promises'

/** Rejects where the work takes longer; the work continues, and its result is ignored. */
export async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const end = new AbortController()
  const late = sleep(ms, undefined, { signal: end.signal, ref: false }).then(() => {
    throw new Error(`no answer within ${ms / 1000} s`)
  })
  late.catch(() => undefined)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    end.abort()
  }
}
