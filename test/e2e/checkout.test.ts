import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMPILE_CACHE } from '../support/compile-cache.ts'
import { tempDir } from '../support/temp.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a program to its end in a folder. */
function run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  return new Promise<{ readonly code: unknown; readonly stderr: string }>((done) => {
    execFile(command, args, { cwd, env }, (error, _stdout, stderr) =>
      done({ code: error?.code ?? 0, stderr }),
    )
  })
}

test('a checkout has its configuration beside its launcher, and never runs what the current folder says', async () => {
  await using dir = await tempDir()
  const at = (path: string) => join(dir.path, path)
  for (const part of ['dirsyncd', 'package.json', 'src'])
    await cp(join(ROOT, part), at(`checkout/${part}`), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), at('checkout/node_modules'))
  await mkdir(at('theirs/config'), { recursive: true })
  await writeFile(
    at('theirs/config/dirsyncd.yaml'),
    `store: postgres://a@127.0.0.1:1/a
storePassword: { command: [touch, ${at('theirs/was-run')}] }
syncs:
  - name: theirs
    source: { type: csv, users: { path: users.csv, map: { external_id: id } } }
    directory: { baseUrl: http://127.0.0.1:1, organizationId: 1, directoryId: 1, token: { env: TOKEN } }
`,
  )
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE }
  const start = (...args: string[]) => run(at('checkout/dirsyncd'), args, at('theirs'), env)
  const own = at('checkout/config/dirsyncd.yaml')

  await mkdir(at('checkout/config'))
  await writeFile(own, 'syncs: []\nno-option: 1\n')
  expect(await start('runs')).toEqual({
    code: 78,
    stderr: expect.stringContaining(`${own}:2:1: no-option: `),
  })
  expect(await start('init')).toEqual({
    code: 64,
    stderr: expect.stringContaining(`There is a file ${own} already`),
  })
  expect(await readdir(at('theirs'))).toEqual(['config'])
})
