import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { useMemoryForFiles } from './test/support/memory-files.ts'

useMemoryForFiles()

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
          provide: { long: false },
          testTimeout: 60_000,
          // Vitest would take one worker on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'servers',
          include: ['test/{contract,integration,faults,e2e}/**/*.test.ts'],
          // The queue is the same as on PostgreSQL; the long tests run it on the embedded store as well.
          exclude: ['test/integration/run-behaviour-embedded.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          provide: { long: false },
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Even on fewer cores, because many of these tests mostly wait.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
