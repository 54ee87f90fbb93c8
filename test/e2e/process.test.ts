import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CSV_SOURCE, csvFiles, people } from '../support/company.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { openSite, startServiceSite } from '../support/site.ts'
import { directorySection, embeddedConfig } from '../support/sync-config.ts'

/** The program as an administrator starts it: `src/main.ts`, a process for each command, the times of production. */
test('from an empty directory to a question and its rejection: output, exit codes and signals of real processes', async () => {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startServiceSite())
  const site = stack.use(await openSite())
  const write = async (count: number) => {
    for (const [name, text] of Object.entries(csvFiles(people(count)))) await site.write(name, text)
  }
  const config = join(site.dir, 'dirsyncd.yaml')
  const run = (...args: readonly string[]) =>
    runProgram([...args, '--config', config], { asInProduction: true })
  await write(40)
  await site.configure(
    embeddedConfig([{ name: 'corp', source: CSV_SOURCE, directory: directorySection(service) }]),
  )

  expect(await run('plan')).toMatchObject({ code: 2, stderr: '' })
  expect(await run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
  const daemon = startProgram(['start', '--config', config], { asInProduction: true })
  onTestFinished(() => daemon[Symbol.asyncDispose]())
  await daemon.waitForOutput(/daemon started/)
  expect(await run('plan', 'corp')).toMatchObject({ code: 0, stderr: '' })
  await write(20)
  const asking = await run('sync', 'corp')
  expect(asking).toMatchObject({ code: 3, stderr: '' })
  const [, number = ''] = /reject (\d+)/.exec(asking.stdout) ?? []
  expect(await run('reject', number, '--all')).toMatchObject({ code: 0, stderr: '' })
  daemon.kill('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
  expect(await run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })

  expect(await run('synch')).toMatchObject({ code: 64, stdout: '' })
  await site.write('dirsyncd.yaml', 'syncs: [')
  expect(await run('sync')).toMatchObject({ code: 78, stdout: '' })
})
