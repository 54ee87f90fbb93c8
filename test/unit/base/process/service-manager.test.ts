import { appendFile, chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../../../src/base/log/log.ts'
import { ServiceManager } from '../../../../src/base/process/service-manager.ts'
import { tempDir } from '../../../support/temp.ts'

test('a message that systemd-notify fails to deliver is warned of once, and silences no later one', async () => {
  await using dir = await tempDir()
  const heard = join(dir.path, 'heard')
  const fails = join(dir.path, 'fails')
  await appendFile(heard, '')
  await writeFile(fails, '')
  const notify = join(dir.path, 'systemd-notify')
  await writeFile(notify, `#!/bin/sh\n[ ! -e '${fails}' ] && echo "$1" >> '${heard}'\n`)
  await chmod(notify, 0o755)
  const warnings: string[] = []
  const log = createLog('warn', { destination: { write: (line: string) => warnings.push(line) } })
  const environment = { NOTIFY_SOCKET: '/run/none', PATH: dir.path, WATCHDOG_USEC: '200000' }
  using manager = new ServiceManager(environment, log)
  const told = async () => (await readFile(heard, 'utf8')).split('\n')

  manager.ready()
  await expect.poll(() => warnings).toHaveLength(1)
  expect(warnings[0]).toContain('systemd cannot be told')
  await rm(fails)
  // What made the service ready was lost, so it is said again.
  await expect.poll(told).toEqual(expect.arrayContaining(['READY=1', 'WATCHDOG=1']))
  expect(warnings).toHaveLength(1)
})
