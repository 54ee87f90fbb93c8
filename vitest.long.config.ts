import { defineConfig } from 'vitest/config'
import { keepCompiled } from './test/support/compile-cache.ts'
import { PATIENCE } from './test/support/patience.ts'

keepCompiled()

const LONG = {
  globalSetup: 'test/support/global-setup.ts',
  provide: { long: true },
  expect: { poll: PATIENCE },
  testTimeout: 1_800_000,
  hookTimeout: 300_000,
}
/** It says how long the service keeps others waiting, so nothing else may use the processor. */
const LOAD = 'test/contract/fuzz-load.long.test.ts'

/** Separate from `npm test`, because each file takes minutes: long outages, thousands of cases, production timeouts. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...LONG,
          name: 'long',
          include: ['test/**/*.long.test.ts'],
          exclude: [LOAD],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...LONG, name: 'load', include: [LOAD], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
