import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const MAIN = 'src/main.ts'

/** Runs the program; `before` is evaluated ahead of it. */
function run(
  argv: readonly string[],
  before = '',
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const preload = `data:text/javascript,${encodeURIComponent(before)}`
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', preload, MAIN, ...argv], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}

test.each(['20.19.0', '24.4.1'])('Node %s is refused with one sentence', async (version) => {
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  expect(await run(['--help'], older)).toEqual({
    code: 1,
    stdout: '',
    stderr: `dirsyncd needs Node 24.5 or newer, and this is Node ${version}; install a newer one.\n`,
  })
})

test('nothing is loaded before the version was looked at', async () => {
  expect(await readFile(MAIN, 'utf8')).not.toMatch(/^\s*import\b|^\s*export\b.*\bfrom\b/m)
})

test('the exit code of a command is the exit code of the process', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stderr: '' })
  expect(await run(['no-such-command'])).toMatchObject({ code: 64, stdout: '' })
})
