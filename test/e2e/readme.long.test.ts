import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { tempDir } from '../support/temp.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const readme = await readFile(join(ROOT, 'README.md'), 'utf8')

/** The second block of "Try it": what is typed in a second terminal while `npm start` runs. */
const [, BLOCK = ''] = /^```sh\n(export DIRSYNCD_CONFIG=.*?)^```$/ms.exec(readme) ?? []
const [EXPORT = '', RUNS = '', PLAN = '', EDIT = '', SYNC = '', REJECT = '', BACK = ''] = BLOCK.split('\n')

/** The demo in a folder of its own, on other ports. */
async function copyDemo(dir: string): Promise<void> {
  for (const folder of ['config', 'scripts']) await mkdir(join(dir, folder))
  await cp(join(ROOT, 'config/demo'), join(dir, 'config/demo'), { recursive: true })
  await cp(join(ROOT, 'scripts/demo.ts'), join(dir, 'scripts/demo.ts'))
  for (const path of ['dirsyncd', 'src']) await symlink(join(ROOT, path), join(dir, path))
  const [pages, service] = [await freePort(), await freePort()]
  for (const file of ['config/demo.yaml', 'config/demo/access-service.yaml']) {
    const text = await readFile(join(ROOT, file), 'utf8')
    const moved = text.replaceAll('127.0.0.1:8080', `127.0.0.1:${pages}`)
    await writeFile(join(dir, file), moved.replaceAll('127.0.0.1:8090', `127.0.0.1:${service}`))
  }
}

test('the commands of "Try it" do what the README says', async () => {
  const dir = await tempDir()
  onTestFinished(() => dir[Symbol.asyncDispose]())
  await copyDemo(dir.path)
  const data = join(dir.path, 'var/demo')
  for (const store of ['store', 'service/store']) await mkdir(join(data, store), { recursive: true })
  await writeFile(join(data, 'form'), 'of an older checkout')
  await writeFile(join(data, 'store/PG_VERSION'), 'of an older checkout')
  const demo = startProgram([], { cwd: dir.path, main: join(dir.path, 'scripts/demo.ts') })
  // Killed, it would leave the two programs behind.
  onTestFinished(async () => {
    demo.kill('SIGINT')
    await demo.ended
  })
  await demo.waitForOutput(/The demo starts over: its stores in /)
  const [first] = await demo.waitForOutput(/demo: run \d+, done[^]*?runs 1 shows/)
  const [, users = '', groups = ''] = /creates (\d+) users and (\d+) groups/.exec(readme) ?? []
  expect(first).toContain(` ${users} creations of users, ${groups} creations of groups`)

  const shell = (line: string) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile('bash', ['-c', `${EXPORT}\n${line}`], { cwd: dir.path }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })
  const runs = await shell(RUNS)
  expect(runs).toMatchObject({ code: 0, stderr: '' })
  expect(runs.stdout).toMatch(/\bdone\b/)
  expect((await shell(PLAN)).stdout).toContain('no changes')
  expect(await shell(EDIT)).toEqual({ code: 0, stdout: '', stderr: '' })
  const asking = await shell(SYNC)
  expect(asking).toMatchObject({ code: 3, stderr: '' })
  const [, number = ''] = /dirsyncd reject (\d+)/.exec(asking.stdout) ?? []
  expect(REJECT).toMatch(/^\.\/dirsyncd reject 3 --all /)
  expect(await shell(REJECT.replace(' 3 ', ` ${number} `))).toMatchObject({ code: 0, stderr: '' })
  expect(BACK).toBe('git checkout config/demo/users.csv')
  expect((await shell(RUNS)).stdout).toMatch(/rejected/)
  demo.kill('SIGINT')
  expect(await demo.ended).toMatchObject({ code: 0 })
})
