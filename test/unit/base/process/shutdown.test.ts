import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { installShutdown } from '../../../../src/base/process/shutdown.ts'
import { tempDir } from '../../../support/temp.ts'

/** Starts a process that installs the handlers, says `ready`, and then does what the code says. */
async function start(code: string) {
  const shutdown = new URL('../../../../src/base/process/shutdown.ts', import.meta.url).href
  const script = `
    const { installShutdown } = await import(${JSON.stringify(shutdown)})
    const busy = setInterval(() => undefined, 1000)
    const stop = (text) => { clearInterval(busy); process.stdout.write(text) }
    ${code}
    process.stdout.write('ready\\n')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (data) => (output.stdout += String(data)))
  child.stderr.on('data', (data) => (output.stderr += String(data)))
  const ended = once(child, 'close')
  while (!output.stdout.includes('ready\n')) await once(child.stdout, 'data')
  return {
    child,
    output,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

test.each(['SIGINT', 'SIGTERM'] as const)('the first %s lets the process finish', async (signal) => {
  await using running = await start(`
    const shutdown = installShutdown()
    shutdown.signal.addEventListener('abort', () => {
      shutdown.dispose()
      stop(shutdown.signal.reason.code)
    })`)
  running.child.kill(signal)
  expect(await running.ended).toEqual([0, null])
  expect(running.output.stdout).toBe('ready\ninterrupted')
})

test.each(['SIGINT', 'SIGTERM'] as const)('the second %s ends the process at once', async (signal) => {
  await using running = await start(`
    let now = 0
    performance.now = () => (now += 600)
    const shutdown = installShutdown()
    shutdown.signal.addEventListener('abort', () => process.stdout.write('stopping\\n'))`)
  running.child.kill(signal)
  while (!running.output.stdout.includes('stopping\n')) await once(running.child.stdout, 'data')
  running.child.kill(signal)
  expect(await running.ended).toEqual([null, signal])
  // The grace period would end in the same way, and say so.
  expect(running.output.stderr).toBe('')
})

test('a Ctrl-C that npm passes on besides is one signal', async () => {
  await using running = await start(`
    performance.now = () => 1
    const shutdown = installShutdown()
    shutdown.signal.addEventListener('abort', () => {
      process.stdout.write('stopping\\n')
      setTimeout(() => { shutdown.dispose(); setTimeout(stop, 100, 'done') }, 100)
    })`)
  running.child.kill('SIGINT')
  while (!running.output.stdout.includes('stopping\n')) await once(running.child.stdout, 'data')
  running.child.kill('SIGINT')
  await sleep(120)
  running.child.kill('SIGINT')
  expect(await running.ended).toEqual([0, null])
})

test('a process that does not finish within the grace period is ended', async () => {
  await using running = await start('installShutdown(100)')
  running.child.kill('SIGTERM')
  expect(await running.ended).toEqual([null, 'SIGTERM'])
  expect(running.output.stderr).toBe('Gave up waiting for work in flight after 0.1 s.\n')
})

test('a process that reads a pipe to which nobody writes is ended, and what is to be done at its exit is', async () => {
  await using dir = await tempDir()
  const pipe = join(dir.path, 'pipe')
  await promisify(execFile)('mkfifo', [pipe])
  await using running = await start(`
    installShutdown(100)
    process.on('exit', () => process.stdout.write('left\\n'))
    void (await import('node:fs/promises')).readFile(${JSON.stringify(pipe)})`)
  running.child.kill('SIGTERM')
  expect(await running.ended).toEqual([null, 'SIGTERM'])
  expect(running.output.stdout).toBe('ready\nleft\n')
})

test('disposing takes every handler off', () => {
  const before = process.listenerCount('SIGINT')
  {
    using shutdown = installShutdown()
    expect(shutdown.signal.aborted).toBe(false)
    expect(process.listenerCount('SIGINT')).toBe(before + 1)
  }
  expect(process.listenerCount('SIGINT')).toBe(before)
})
