import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { mkdir, readFile, rename, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createLog, silentLog } from '../../../../src/base/log/log.ts'
import { createRequestLog } from '../../../../src/service/http/request-log.ts'
import { tempDir } from '../../../support/temp.ts'

const LINE = { at: 1, method: 'GET', url: '/users/ada', status: 200, done: true, deviceId: null }

test('the log of requests, which names people in its paths, is for its user only', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'requests.log')
  const log = createRequestLog(path, silentLog())
  log.write(LINE)
  log.close()
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(LINE)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a file that cannot be opened is named', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'missing', 'requests.log')
  expect(() => createRequestLog(path, silentLog())).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: `The request log ${path} cannot be opened: its folder does not exist; set requestLog to another file.`,
    }),
  )
})

test('a pipe that nobody reads is refused, and one whose reader is slow blocks nothing', async () => {
  await using dir = await tempDir()
  const path = join(dir.path, 'pipe')
  await promisify(execFile)('mkfifo', [path])
  expect(() => createRequestLog(path, silentLog())).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: expect.stringContaining('is a pipe that nobody reads'),
    }),
  )
  const said: { error?: string; lost?: number }[] = []
  const destination = { write: (line: string) => void said.push(JSON.parse(line)) }
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const log = createRequestLog(path, createLog('info', { destination }))
  const long = { ...LINE, url: `/${'u'.repeat(4000)}` }
  for (let count = 0; count < 100; count += 1) log.write(long)
  expect(said).toMatchObject([{ error: expect.stringContaining('EAGAIN') }])
  while (readAll(reader) > 0);
  log.write(LINE)
  expect(said).toMatchObject([{}, { lost: expect.any(Number) }])
  log.close()
  closeSync(reader)
})

/** What is in a pipe now, in bytes. */
function readAll(descriptor: number): number {
  const buffer = Buffer.alloc(1 << 20)
  try {
    return readSync(descriptor, buffer)
  } catch {
    return 0
  }
}

function importOf(file: string): string {
  return JSON.stringify(new URL(`../../../../src/${file}`, import.meta.url).href)
}

async function urlsIn(file: string): Promise<unknown[]> {
  return [...(await readFile(file, 'utf8')).matchAll(/"url":"(.*?)"/g)].map((match) => match[1])
}

describe('a log of requests that', () => {
  test('is on a full disk loses lines and says so once, and once when it can be written again', async () => {
    await using dir = await tempDir()
    const path = join(dir.path, 'requests.log')
    await symlink('/dev/full', path)
    const said: { level: string; file: string; lost?: number }[] = []
    const log = createRequestLog(
      path,
      createLog('info', { destination: { write: (line) => void said.push(JSON.parse(line)) } }),
    )
    for (let count = 0; count < 3; count += 1) expect(() => log.write(LINE)).not.toThrow()
    expect(said).toMatchObject([{ level: 'error', file: path, error: expect.stringContaining('ENOSPC') }])
    await unlink(path)
    log.reopen()
    log.write(LINE)
    log.write(LINE)
    log.close()
    expect(said).toMatchObject([{}, { level: 'warn', file: path, lost: 3 }])
    expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify(LINE)}\n`.repeat(2))
  })

  test('ended in the middle of a line begins the next one anew', async () => {
    await using dir = await tempDir()
    const path = join(dir.path, 'requests.log')
    const program = `
      import { truncateSync } from 'node:fs'
      import { silentLog } from ${importOf('base/log/log.ts')}
      import { createRequestLog } from ${importOf('service/http/request-log.ts')}
      const log = createRequestLog(${JSON.stringify(path)}, silentLog())
      log.write({ text: 'x'.repeat(2000) })
      truncateSync(${JSON.stringify(path)}, 10)
      log.write({ text: 'after' })`
    await writeFile(join(dir.path, 'write.ts'), program)
    await promisify(execFile)('prlimit', ['--fsize=1000', process.execPath, join(dir.path, 'write.ts')])
    expect(await readFile(path, 'utf8')).toBe('{"text":"x\n{"text":"after"}\n')
  })

  test('was moved away goes on in a new file, and no line is lost', async () => {
    await using dir = await tempDir()
    const path = join(dir.path, 'requests.log')
    const log = createRequestLog(path, silentLog())
    log.write({ ...LINE, url: '/1' })
    await rename(path, `${path}.1`)
    log.write({ ...LINE, url: '/2' })
    log.reopen()
    log.write({ ...LINE, url: '/3' })
    log.close()
    log.reopen()
    expect([await urlsIn(`${path}.1`), await urlsIn(path)]).toEqual([['/1', '/2'], ['/3']])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('cannot be opened again goes on in the old file', async () => {
    await using dir = await tempDir()
    const path = join(dir.path, 'logs', 'requests.log')
    await mkdir(join(dir.path, 'logs'))
    const said: string[] = []
    const log = createRequestLog(
      path,
      createLog('info', { destination: { write: (line) => void said.push(line) } }),
    )
    await rename(join(dir.path, 'logs'), join(dir.path, 'moved'))
    log.reopen()
    log.write(LINE)
    log.close()
    expect(said).toHaveLength(1)
    expect(said[0]).toContain('lines still go to the old file')
    expect(said[0]).toContain(`"file":"${path}"`)
    expect(JSON.parse(await readFile(join(dir.path, 'moved', 'requests.log'), 'utf8'))).toEqual(LINE)
  })
})
