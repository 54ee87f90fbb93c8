import { defineConfig } from 'vitest/config'
import { keepCompiled } from './test/support/compile-cache.ts'
import { PATIENCE } from './test/support/patience.ts'

keepCompiled()

/** Separate from `npm test`, because the images are built from the ground up, as root, with packages from the network. */
export default defineConfig({
  test: {
    name: 'image',
    include: ['test/image/**/*.test.ts'],
    expect: { poll: PATIENCE },
    testTimeout: 300_000,
    hookTimeout: 900_000,
    maxWorkers: 1,
  },
})
