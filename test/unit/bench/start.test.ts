import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** They use the tests' servers and programs, outside of Vitest. */
test.each(['bench/main.ts', 'test/faults/main.ts'])('node %s starts', async (path) => {
  const { VITEST: _, ...env } = process.env
  const file = fileURLToPath(new URL(`../../../${path}`, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [file, '--help'], { env })
  expect(stdout).toContain('npm run')
})
