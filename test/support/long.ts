import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether this is `npm run test:long`: full sizes, and the timeouts of production. */
    readonly long: boolean
  }
}

export function isLong(): boolean {
  return inject('long')
}

/** Returns `short` in `npm test` and `long` in `npm run test:long`. */
export function inLong<T>(short: T, long: T): T {
  return isLong() ? long : short
}
