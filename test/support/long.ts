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

/** Whether `npm run test:protections` runs, which looks at one file at a time. */
const isForProtections = process.env['PROTECTIONS_RESULT'] !== undefined

/** A test that takes too long for `npm test`, where a quicker one has the same protection or a part of it. */
export const longTest = isLong() || isForProtections ? test : test.skip
