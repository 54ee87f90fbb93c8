import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether this is `npm run test:long`: whole sizes, and the times of production. */
    readonly long: boolean
  }
}

export function isLong(): boolean {
  return inject('long')
}

/** How much of something a test does: in `npm test`, and in `npm run test:long`. */
export function inLong<T>(short: T, long: T): T {
  return isLong() ? long : short
}
