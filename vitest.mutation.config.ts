import { defineConfig } from 'vitest/config'

/** Of the unit tests those of checks, differences and keys, as `npm run test:mutation` runs them hundreds of times. */
export default defineConfig({
  test: {
    include: [
      'test/unit/core/checks/*.test.ts',
      'test/unit/core/diff/{plan,emails,id-form}.test.ts',
      'test/unit/core/plan/selection.test.ts',
      'test/unit/core/run/scenarios.test.ts',
    ],
    provide: { long: false },
    isolate: false,
    testTimeout: 60_000,
  },
})
