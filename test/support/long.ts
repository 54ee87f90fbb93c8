import { inject, test } from 'vitest'

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

/** Benchmarks and fault runs use these files outside of Vitest. */
const isInVitest = process.env['VITEST'] !== undefined

/** A test that waits too long for `npm test`: `npm run test:long` does it. */
export const longTest = isInVitest && !isLong() ? test.skip : test
