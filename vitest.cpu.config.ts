import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          provide: { long: false },
          testTimeout: 10_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'servers',
          include: ['test/{contract,integration,faults,e2e}/**/*.test.ts'],
          globalSetup: 'test/support/global-setup.ts',
          setupFiles: ['/tmp/cpu-setup.ts'],
          provide: { long: false },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Nearly all of them wait most of the time.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
