import { defineConfig } from 'vitest/config'

/** Of the unit tests those that say what guards and grace do, as `npm run test:mutation` runs them hundreds of times. */
export default defineConfig({
  test: {
    include: ['test/unit/core/plan/{evidence,grace,guards,plan,selection}.test.ts'],
    provide: { long: false },
    isolate: false,
    testTimeout: 60_000,
  },
})
