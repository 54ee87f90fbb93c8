import { defineConfig } from 'vitest/config'
import { keepCompiled } from './test/support/compile-cache.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { useMemoryForFiles } from './test/support/memory-files.ts'
import { PATIENCE } from './test/support/patience.ts'

keepCompiled()
useMemoryForFiles()

/** They take minutes: `npm run test:long` does them. */
const LONG = ['**/*.long.test.ts']

/** They replace modules, so they do not share a worker with others. */
const ALONE = ['test/integration/run-bounded.test.ts']

const SERVERS = {
  globalSetup: 'test/support/global-setup.ts',
  provide: { long: false },
  expect: { poll: PATIENCE },
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Even on fewer cores, because many of these tests mostly wait.
  maxWorkers: 5,
  sequence: { groupOrder: 1 },
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Test files leave no state behind; importing the code again for each costs more than many of their tests.
    isolate: false,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude: LONG,
          provide: { long: false },
          expect: { poll: PATIENCE },
          testTimeout: 300_000,
          // Vitest would take one worker on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...SERVERS,
          name: 'servers',
          include: ['test/{contract,integration,faults,e2e}/**/*.test.ts'],
          exclude: [...LONG, ...ALONE],
        },
      },
      { test: { ...SERVERS, name: 'alone', include: ALONE, isolate: true } },
    ],
  },
})
