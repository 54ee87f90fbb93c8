import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Reloader, type ReloaderDeps } from '../../../src/compose/reloader.ts'
import type { Config } from '../../../src/config/config.ts'
import { DirsyncdError } from '../../../src/base/errors.ts'
import { createLog, silentLog } from '../../../src/base/log/log.ts'

function configOf(written: Record<string, string>): Config {
  return { file: '/etc/dirsyncd.yaml', syncs: [], dataDir: written['dataDir'], written } as unknown as Config
}

const STARTED = configOf({ dataDir: '/data', 'retention.time': '1', 'admin.listen': 'a' })
const NONE = { changes: { added: [], changed: [], removed: [] }, failures: [] }

function reloaderOf(more: Partial<ReloaderDeps>): Reloader {
  return new Reloader({
    started: STARTED,
    readAgain: async () => STARTED,
    change: async () => NONE,
    log: silentLog(),
    signal: new AbortController().signal,
    ...more,
  })
}

test('two reloads at once are made one after the other', async () => {
  const happened: string[] = []
  const reloader = reloaderOf({
    change: async () => {
      happened.push('begin')
      await sleep(5)
      happened.push('end')
      return NONE
    },
  })
  await Promise.all([reloader.reload(), reloader.reload()])
  expect(happened).toEqual(['begin', 'end', 'begin', 'end'])
})

test('a wrong file changes nothing, and the next one is read', async () => {
  const changed: Config[] = []
  let isWrong = true
  const reloader = reloaderOf({
    readAgain: async () => {
      if (isWrong) throw new DirsyncdError('config-invalid', 'It is wrong.')
      return STARTED
    },
    change: async (config) => (changed.push(config), NONE),
  })
  await expect(reloader.reload()).rejects.toThrow('It is wrong.')
  expect(changed).toEqual([])
  isWrong = false
  await reloader.reload()
  expect(changed).toHaveLength(1)
})

test('what needs a restart stays as it was, and is named each time until then', async () => {
  const changed: Config[] = []
  const read = configOf({ dataDir: '/other', 'retention.time': '2', 'admin.listen': 'a' })
  const reloader = reloaderOf({
    readAgain: async () => read,
    change: async (config) => (changed.push(config), NONE),
  })
  expect(await reloader.reload()).toMatchObject({ applied: ['retention.time'], needRestart: ['dataDir'] })
  expect(await reloader.reload()).toMatchObject({ applied: [], needRestart: ['dataDir'] })
  expect(changed.map(({ dataDir }) => dataDir)).toEqual(['/data', '/data'])
})

test('a process that is stopping refuses, also when it was told so while it read the file', async () => {
  const stopping = new AbortController()
  const changed: Config[] = []
  const reloader = reloaderOf({
    readAgain: async () => (stopping.abort(), STARTED),
    change: async (config) => (changed.push(config), NONE),
    signal: stopping.signal,
  })
  for (let time = 0; time < 2; time++)
    await expect(reloader.reload()).rejects.toMatchObject({ code: 'interrupted' })
  expect(changed).toEqual([])
})

test('a signal is served like a command, and its errors end nothing', async () => {
  const lines: string[] = []
  const log = createLog('info', { destination: { write: (line: string) => void lines.push(line) } })
  const reloader = reloaderOf({ readAgain: () => Promise.reject(new Error('away')), log })
  reloader.reloadInBackground()
  await reloader.settled()
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'error', error: 'away' }])
})
