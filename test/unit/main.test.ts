import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const MAIN = 'src/main.ts'
const START = 'src/base/process/start-program.ts'

/** Runs the program; `before` is evaluated ahead of it. */
function run(
  argv: readonly string[],
  before = '',
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const preload = `data:text/javascript,${encodeURIComponent(before)}`
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } }
    execFile(process.execPath, ['--import', preload, MAIN, ...argv], options, (error, stdout, stderr) => {
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

test.each(['src/main.ts', 'src/service/main.ts', START])(
  '%s loads nothing before the version was looked at',
  async (file) => {
    const imports = (await readFile(file, 'utf8')).match(/^\s*import\b.*|^\s*export\b.*\bfrom\b.*/gm) ?? []
    const loading = imports.filter((each) => !each.startsWith('import type '))
    expect(loading.map((each) => /'(?:\.{1,2}\/)+(.*)'/.exec(each)?.[1])).toEqual(
      file === START ? [] : ['base/process/start-program.ts'],
    )
  },
)

/** Says how the process began, each time that it begins. */
const SAY_HOW =
  "const { pid, execArgv, env } = process; process.stderr.write([pid, execArgv[0], env.MALLOC_ARENA_MAX].join(' ') + '\\n')"

test('however it is started, it has the settings for less memory, in the process that was started', async () => {
  const { code, stdout, stderr } = await run(['--version'], SAY_HOW)
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d/) })
  const [, pid = ''] = /^(\d+) --import $/m.exec(stderr) ?? []
  expect(stderr).toBe(`${pid} --import \n${pid} --max-semi-space-size=8 1\n`)
})

test('settings that somebody has made stay, and nothing begins again for them', async () => {
  const made = { MALLOC_ARENA_MAX: '4', MALLOC_MMAP_THRESHOLD_: '1', MALLOC_TRIM_THRESHOLD_: '1' }
  const { stderr } = await run(['--version'], SAY_HOW, {
    ...made,
    NODE_OPTIONS: '--max-semi-space-size=32',
  })
  expect(stderr).toMatch(/^\d+ --import 4\n$/)
})

/** Runs the program with a stream on a disk that is full. */
function runOnFullDisk(stream: '>' | '2>', argv: readonly string[]): ReturnType<typeof run> {
  const command = [process.execPath, MAIN, ...argv].map((part) => `'${part}'`).join(' ')
  return new Promise((resolve) => {
    execFile('sh', ['-c', `exec ${command} ${stream} /dev/full`], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}

test.each([[['--version']], [['runs', '--help']], [['bundle', '--config', '/none.yaml', '-']]])(
  'standard output on a full disk is one sentence: %s',
  async (argv) => {
    expect(await runOnFullDisk('>', argv)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Standard output cannot be written: the disk is full; send it elsewhere.\n',
    })
  },
)

test('a log on a full disk changes nothing of what a command does', async () => {
  expect(await runOnFullDisk('2>', ['runs', '--config', '/none.yaml'])).toMatchObject({ code: 78 })
})

test('the exit code of a command is the exit code of the process', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stderr: '' })
  expect(await run(['no-such-command'])).toMatchObject({ code: 64, stdout: '' })
})
