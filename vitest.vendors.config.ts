import { defineConfig } from 'vitest/config'
import { keepCompiled } from './test/support/compile-cache.ts'
import { PATIENCE } from './test/support/patience.ts'

keepCompiled()

/** Separate from `npm test`, because Samba and 389-ds are large to install and Samba needs root for its ports. */
export default defineConfig({
  test: {
    name: 'vendors',
    globalSetup: 'test/support/global-setup.ts',
    provide: { long: true },
    include: ['test/vendors/**/*.test.ts'],
    expect: { poll: PATIENCE },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
})
