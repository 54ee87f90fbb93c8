import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { socketPath } from '../../../src/base/socket/socket.ts'
import { reloadDaemon } from '../../../src/compose/reload.ts'
import { acquireDataDir, type OwnerInWords } from '../../../src/base/database/owner.ts'
import { tempDir } from '../../support/temp.ts'

const REPORT = { file: '/x', added: [], changed: [], removed: [], applied: [], needRestart: [] }
const { signal } = new AbortController()

test('a reload waits for a daemon that has its data directory and does not listen yet', async () => {
  await using temp = await tempDir()
  await using _owned = await acquireDataDir(temp.path, { command: 'dirsyncd start' })
  const waits: OwnerInWords[] = []
  const reloading = reloadDaemon(temp.path, { signal, onWait: (owner) => waits.push(owner) })
  await sleep(300)
  await using server = createServer((_request, response) => response.end(JSON.stringify(REPORT)))
  server.listen(socketPath(temp.path))
  expect(await reloading).toEqual(REPORT)
  expect(waits).toMatchObject([{ howToEnd: `kill ${process.pid}`, isDaemon: true }])
})

test('a daemon that never listens is named, and the configuration is not called reloaded', async () => {
  await using temp = await tempDir()
  await using _owned = await acquireDataDir(temp.path, { command: 'dirsyncd start' })
  const reloading = reloadDaemon(temp.path, { signal, onWait: () => undefined, patienceMs: 100 })
  await expect(reloading).rejects.toThrow(
    new RegExp(`^The configuration was not reloaded: process ${process.pid} \\(dirsyncd start, `),
  )
})

test.each([undefined, 'dirsyncd sync'])('without a daemon nothing is reloaded (%s)', async (command) => {
  await using temp = await tempDir()
  await using _owned = command === undefined ? undefined : await acquireDataDir(temp.path, { command })
  const reloading = reloadDaemon(temp.path, { signal, onWait: () => expect.unreachable() })
  await expect(reloading).rejects.toMatchObject({ code: 'daemon-unreachable', exitCode: 1 })
  await expect(reloading).rejects.toThrow(`No daemon runs with the data directory ${temp.path}, so `)
})
